/** SAEs from files, in the three forms they are published in. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readNpz } from "../store/npz.js";
import { projectRoot } from "../store/project-root.js";
import { readSafetensors, readSafetensorsHeader } from "../store/safetensors.js";
import { checkedSae, type LoadSaeOptions, type Sae } from "./sae.js";
import { hookFromName, hookFromPath } from "./sae-hook.js";
import { readSaeLens } from "./sae-lens-form.js";
import { type Arrays, floats, matrix } from "./sae-tensors.js";

/** The SAE that ships with the organism of this name. */
function shippedSae(name: string): string {
  const folder = join(projectRoot(), "data", "organisms", "sae");
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(".safetensors")) : [];
  const found = files.find((file) => file.startsWith(`${name}-`));
  if (found !== undefined) return join(folder, found);
  const names = files.map((file) => file.replace(/-[^-]+-\d+\.safetensors$/, "")).join(", ");
  throw new Error(
    `loadSae: no ${name}; expected a .safetensors, an .npz, a folder with an SAE, or an organism that ships with one (${names || "none is here"})`,
  );
}

const PARTS = ["w_enc", "w_dec", "b_enc", "b_dec", "threshold"];

/**
 * Loads an SAE from a path, or the one that ships with an organism by its name. The form is found by looking:
 *
 * - Gemma Scope 2: a `.safetensors` with `w_enc` `[d_model, feature]`, `w_dec`, `b_enc`, `b_dec`, `threshold`, or its folder;
 * - Gemma Scope: an `.npz` with the same in capitals (`W_enc`), or its folder;
 * - SAELens: a folder with `cfg.json` and `sae_weights.safetensors`; architectures `standard`, `jumprelu`, `topk`, and
 *   `batchtopk`/`matryoshka_batchtopk` where they were saved with a threshold.
 *
 * Transcoders, gated and temporal SAEs are refused; so are weights that hold NaN. Everything is kept in memory as F32.
 *
 * @throws one line that says what the file is instead
 * @example
 * const sae = await loadSae("tally-400k");
 * const scope = await loadSae("gemma-scope-2-1b-it/resid_post/layer_13_width_16k_l0_medium");
 */
export async function loadSae(spec: string, options: LoadSaeOptions = {}): Promise<Sae> {
  const path = existsSync(spec) ? spec : shippedSae(spec);
  if (statSync(path).isDirectory()) {
    const inside = ["cfg.json", "params.safetensors", "params.npz"].find((n) => existsSync(join(path, n)));
    if (inside === undefined)
      throw new Error(
        `loadSae: ${path} holds no SAE; expected cfg.json with sae_weights.safetensors (SAELens), params.safetensors or params.npz (Gemma Scope)`,
      );
    return inside === "cfg.json" ? readSaeLens(path, options) : loadSae(join(path, inside), options);
  }
  if (path.endsWith(".npz")) return readGemmaScope(path, options);
  if (!path.endsWith(".safetensors"))
    throw new Error(
      `loadSae: ${basename(path)} is of no known form; expected .safetensors (Gemma Scope 2), .npz (Gemma Scope) or a folder with cfg.json (SAELens)`,
    );
  const names = (await readSafetensorsHeader(path)).tensors.map(({ name }) => name);
  if (names.includes("w_enc")) return readGemmaScope2(path, names, options);
  if (names.includes("W_enc") && existsSync(join(dirname(path), "cfg.json")))
    return readSaeLens(dirname(path), options);
  throw new Error(
    `loadSae: ${basename(path)} has no w_enc; it has ${names.slice(0, 6).join(", ")}; ` +
      "expected w_enc, w_dec, b_enc, b_dec, threshold (Gemma Scope 2); SAELens' weights need their cfg.json beside them",
  );
}

async function readGemmaScope2(
  path: string,
  names: readonly string[],
  options: LoadSaeOptions,
): Promise<Sae> {
  if (names.includes("affine_skip_connection"))
    throw new Error(
      `loadSae: ${path} is a transcoder (affine_skip_connection); expected an SAE of one hook point`,
    );
  requireAll(names, path);
  const { tensors } = await readSafetensors(path, PARTS);
  return jumpRelu(path, "Gemma Scope 2", tensors, options);
}

async function readGemmaScope(path: string, options: LoadSaeOptions): Promise<Sae> {
  const arrays = new Map([...(await readNpz(path))].map(([name, array]) => [name.toLowerCase(), array]));
  requireAll([...arrays.keys()], path);
  return jumpRelu(path, "Gemma Scope", arrays, options);
}

function requireAll(names: readonly string[], path: string): void {
  const missing = PARTS.filter((part) => !names.includes(part));
  if (missing.length === 0) return;
  throw new Error(
    `loadSae: ${path} has no ${missing.join(", ")}; it has ${names.slice(0, 10).join(", ")}; expected ${PARTS.join(", ")}`,
  );
}

function jumpRelu(path: string, form: Sae["form"], arrays: Arrays, options: LoadSaeOptions): Sae {
  const what = `loadSae: ${path}`;
  const encoder = matrix(arrays, "w_enc", what);
  const [width, features] = encoder.shape;
  const beside = statedBeside(path);
  const hook =
    hookFromName(beside.hookPoint ?? beside.hf_hook_point_in ?? beside.hook_name ?? "") ?? hookFromPath(path);
  const trainedOn = beside.model ?? beside.model_name;
  return checkedSae(
    {
      // Releases name the folder and call every file in it params.
      name: /^params\./.test(basename(path)) ? basename(dirname(path)) : basename(path),
      form,
      architecture: "jump_relu",
      width,
      features,
      encoder: encoder.data,
      encoderBias: floats(arrays, "b_enc", what),
      decoder: floats(arrays, "w_dec", what),
      decoderBias: floats(arrays, "b_dec", what),
      threshold: floats(arrays, "threshold", what),
      centred: false,
      normalisation: "none",
      inputScale: options.inputScale ?? 1,
      ...(hook === undefined ? {} : { hook }),
      ...(trainedOn === undefined ? {} : { trainedOn }),
    },
    what,
  );
}

/** What a `.json` of the same name, or a `config.json` in the same folder, says; nothing where there is none. */
function statedBeside(path: string): Readonly<Record<string, string>> {
  const candidates = [path.replace(/\.(safetensors|npz)$/, ".json"), join(dirname(path), "config.json")];
  const file = candidates.find((candidate) => existsSync(candidate));
  if (file === undefined) return {};
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
  const entries = Object.entries((json ?? {}) as Record<string, unknown>);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
