/** SAELens' form: a folder with `cfg.json` and `sae_weights.safetensors`, of any of its versions since 3. */
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { readSafetensors } from "../store/safetensors.js";
import { checkedSae, type LoadSaeOptions, type Sae } from "./sae.js";
import { hookFromName } from "./sae-hook.js";
import { type Arrays, floats, matrix } from "./sae-tensors.js";

const ARCHITECTURES: Readonly<Record<string, Sae["architecture"]>> = {
  standard: "relu",
  jumprelu: "jump_relu",
  topk: "topk",
  // Saved for use, these two have a threshold and are JumpReLU.
  batchtopk: "jump_relu",
  matryoshka_batchtopk: "jump_relu",
};

type Settings = Readonly<Record<string, unknown>>;

export async function readSaeLens(folder: string, options: LoadSaeOptions): Promise<Sae> {
  const what = `loadSae: ${folder}`;
  const cfg = readSettings(join(folder, "cfg.json"), what);
  const metadata = (cfg.metadata ?? {}) as Settings;
  const kwargs = (cfg.activation_fn_kwargs ?? {}) as Settings;
  const activation = String(cfg.activation_fn_str ?? cfg.activation_fn ?? "relu");
  // Until version 6 a TopK SAE was a standard one with another activation.
  const named = activation === "topk" ? "topk" : String(cfg.architecture ?? "standard");
  const architecture = ARCHITECTURES[named];
  if (architecture === undefined || (activation !== "relu" && activation !== "topk"))
    throw new Error(
      `${what}: architecture ${named} with activation ${activation}; known are ${Object.keys(ARCHITECTURES).join(", ")} with relu or topk`,
    );
  const weights = join(folder, "sae_weights.safetensors");
  if (!existsSync(weights))
    throw new Error(`${what} has no sae_weights.safetensors; expected it beside cfg.json`);
  const { tensors } = await readSafetensors(weights);
  refuseScaling(tensors, what);

  const encoder = matrix(tensors, "W_enc", what);
  const [width, features] = encoder.shape;
  const decoder = floats(tensors, "W_dec", what);
  const hook = hookFromName(String(cfg.hook_name ?? metadata.hook_name ?? cfg.hook_point ?? ""));
  const trainedOn = cfg.model_name ?? metadata.model_name;
  return checkedSae(
    {
      name: basename(folder),
      form: "SAELens",
      architecture,
      width,
      features,
      encoder: encoder.data,
      encoderBias: floats(tensors, "b_enc", what),
      decoder,
      decoderBias: floats(tensors, "b_dec", what),
      ...(architecture === "jump_relu" ? { threshold: thresholdOf(tensors, what) } : {}),
      ...(architecture === "topk" ? { k: Number(cfg.k ?? kwargs.k) } : {}),
      centred: cfg.apply_b_dec_to_input !== false,
      ...(architecture === "topk" && cfg.rescale_acts_by_decoder_norm === true
        ? { decoderNorms: rowLengths(decoder, features, width) }
        : {}),
      ...normalisationOf(cfg, options, what),
      ...(hook === undefined ? {} : { hook }),
      ...(typeof trainedOn === "string" ? { trainedOn } : {}),
    },
    what,
  );
}

function readSettings(path: string, what: string): Settings {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`${what}: cfg.json cannot be read (${(error as Error).message}); expected JSON`);
  }
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw new Error(`${what}: cfg.json is no object; expected SAELens' settings`);
  return json as Settings;
}

/** A negative threshold lets everything above 0 through; older files hold its logarithm. */
function thresholdOf(tensors: Arrays, what: string): Float32Array {
  if (tensors.has("log_threshold"))
    return floats(tensors, "log_threshold", what).map((value) => Math.exp(value));
  return floats(tensors, "threshold", what).map((value) => Math.max(0, value));
}

function refuseScaling(tensors: Arrays, what: string): void {
  if (!tensors.has("scaling_factor")) return;
  if (floats(tensors, "scaling_factor", what).every((value) => Math.abs(value - 1) < 1e-6)) return;
  throw new Error(
    `${what} has a finetuning scaling_factor other than 1; fold it into W_dec and b_enc with SAELens first`,
  );
}

function normalisationOf(
  cfg: Settings,
  { inputScale }: LoadSaeOptions,
  what: string,
): Pick<Sae, "normalisation" | "inputScale"> {
  const given = cfg.normalize_activations ?? "none";
  const kind = given === true ? "expected_average_only_in" : given === false ? "none" : given;
  if (kind === "none" || kind === "layer_norm" || kind === "constant_norm_rescale")
    return { normalisation: kind, inputScale: inputScale ?? 1 };
  if (kind !== "expected_average_only_in")
    throw new Error(
      `${what}: normalize_activations ${JSON.stringify(kind)}; known are none, layer_norm, constant_norm_rescale, expected_average_only_in`,
    );
  if (inputScale === undefined)
    throw new Error(
      `${what} was trained on scaled activations (expected_average_only_in), and its files do not hold the factor; ` +
        "pass inputScale: sqrt(d_model) / mean length of the activations it was trained on",
    );
  return { normalisation: "none", inputScale };
}

function rowLengths(matrix: Float32Array, rows: number, width: number): Float32Array {
  return Float32Array.from({ length: rows }, (_, row) => {
    let sum = 0;
    for (let i = row * width; i < (row + 1) * width; i++) sum += matrix[i]! ** 2;
    return Math.sqrt(sum);
  });
}
