import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { residPost } from "../../src/engine/hooks.js";
import { loadSae } from "../../src/lens/sae-files.js";
import { projectRoot } from "../../src/store/project-root.js";
import { readSafetensors } from "../../src/store/safetensors.js";
import { writeSafetensors } from "../../src/store/safetensors-writer.js";
import { FIXTURES, reference } from "./sae-fixtures.js";

const { width, features } = reference;
const folder = () => mkdtempSync(join(tmpdir(), "countlens-sae-"));

/** A Gemma Scope 2 file with some of its tensors changed. */
async function changed(
  change: (tensors: Map<string, { shape: readonly number[]; data: Float32Array }>) => void,
) {
  const { tensors } = await readSafetensors(join(FIXTURES, "gemma-scope-2.safetensors"));
  const own = new Map(
    [...tensors].map(([name, { shape, data }]) => [
      name,
      { shape, data: Float32Array.from(data as Float32Array) },
    ]),
  );
  change(own);
  const path = join(folder(), "sae.safetensors");
  await writeSafetensors(path, Object.fromEntries(own));
  return path;
}

describe("loadSae", () => {
  it.each([
    ["gemma-scope-2.safetensors", "Gemma Scope 2", "jump_relu"],
    ["gemma-scope.npz", "Gemma Scope", "jump_relu"],
    ["saelens-jumprelu", "SAELens", "jump_relu"],
    ["saelens-topk", "SAELens", "topk"],
    ["saelens-standard", "SAELens", "relu"],
  ])("%s", async (name, form, architecture) => {
    const sae = await loadSae(join(FIXTURES, name));
    expect(sae).toMatchObject({ form, architecture, width, features });
    expect(sae.encoder.length).toBe(width * features);
  });

  it("reads where SAELens says it was trained", async () => {
    const { hook, trainedOn, centred } = await loadSae(join(FIXTURES, "saelens-jumprelu"));
    expect({ hook, trainedOn, centred }).toEqual({ hook: residPost(1), trainedOn: "made-up", centred: true });
    expect((await loadSae(join(FIXTURES, "saelens-topk"))).hook).toEqual({ kind: "mlpOut", layer: 0 });
    const weights = join(FIXTURES, "saelens-topk", "sae_weights.safetensors");
    expect(await loadSae(weights)).toMatchObject({ form: "SAELens", k: 5 });
  });

  it("reads the folders of a Gemma Scope release", async () => {
    const release = join(folder(), "resid_post", "layer_12_width_16k_l0_small");
    mkdirSync(release, { recursive: true });
    copyFileSync(join(FIXTURES, "gemma-scope-2.safetensors"), join(release, "params.safetensors"));
    const sae = await loadSae(release);
    expect(sae).toMatchObject({ name: "layer_12_width_16k_l0_small", hook: residPost(12) });
    writeFileSync(
      join(release, "config.json"),
      JSON.stringify({ hf_hook_point_in: "model.layers.7.output", model_name: "google/gemma-3-1b-pt" }),
    );
    expect(await loadSae(release)).toMatchObject({ hook: residPost(7), trainedOn: "google/gemma-3-1b-pt" });
  });

  it("reads the SAE that ships, with what its card says", async () => {
    const sae = await loadSae("tally-400k");
    const card = JSON.parse(
      readFileSync(
        join(projectRoot(), "data", "organisms", "sae", sae.name.replace(/safetensors$/, "json")),
        "utf8",
      ),
    );
    expect(sae).toMatchObject({ width: card.dModel, features: card.dSae, hook: residPost(card.layer) });
    expect(sae.trainedOn).toBe(card.model);
  });

  it("says in a line what a file is instead", async () => {
    await expect(loadSae(join(FIXTURES, "nothing"))).rejects.toThrow(
      /no .*nothing; expected .*an organism that ships with one \(.*tally-400k/,
    );
    await expect(loadSae(FIXTURES)).rejects.toThrow(/holds no SAE; expected cfg.json/);
    await expect(loadSae(join(FIXTURES, "sae.json"))).rejects.toThrow(/sae.json is of no known form/);
    const tensors = join(FIXTURES, "..", "store", "tensors.safetensors");
    await expect(loadSae(tensors)).rejects.toThrow(/has no w_dec, b_enc, b_dec, threshold; it has/);
    await expect(loadSae(join(FIXTURES, "..", "store", "arrays.npz"))).rejects.toThrow(/has no w_enc/);
  });

  it("refuses NaN, other shapes and what is no SAE", async () => {
    const nan = await changed((tensors) => {
      tensors.get("w_dec")!.data[7] = Number.NaN;
    });
    await expect(loadSae(nan)).rejects.toThrow(/decoder holds NaN at 7; expected finite numbers/);
    const cut = await changed((tensors) =>
      tensors.set("b_enc", { shape: [features - 1], data: new Float32Array(features - 1) }),
    );
    await expect(loadSae(cut)).rejects.toThrow(/encoderBias has 39 numbers; expected 40/);
    const flat = await changed((tensors) =>
      tensors.set("w_enc", { shape: [width * features], data: new Float32Array(width * features) }),
    );
    await expect(loadSae(flat)).rejects.toThrow(/w_enc has shape \[480\]; expected \[d_model, feature\]/);
    const skip = await changed((tensors) =>
      tensors.set("affine_skip_connection", { shape: [1], data: new Float32Array(1) }),
    );
    await expect(loadSae(skip)).rejects.toThrow(/is a transcoder/);
  });

  it("refuses SAELens SAEs it cannot use, and says what is missing", async () => {
    await expect(loadSae(join(FIXTURES, "saelens-scaled"))).rejects.toThrow(/pass inputScale: sqrt/);
    const gated = folder();
    copyFileSync(
      join(FIXTURES, "saelens-topk", "sae_weights.safetensors"),
      join(gated, "sae_weights.safetensors"),
    );
    writeFileSync(join(gated, "cfg.json"), JSON.stringify({ architecture: "gated" }));
    await expect(loadSae(gated)).rejects.toThrow(
      /architecture gated with activation relu; known are standard/,
    );
    writeFileSync(join(gated, "cfg.json"), "{");
    await expect(loadSae(gated)).rejects.toThrow(/cfg.json cannot be read/);
    writeFileSync(join(gated, "cfg.json"), JSON.stringify({ architecture: "topk", k: 0 }));
    await expect(loadSae(gated)).rejects.toThrow(/topk with k 0; expected a whole number from 1 to 40/);
  });
});
