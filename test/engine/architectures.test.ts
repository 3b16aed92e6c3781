import { describe, expect, it } from "vitest";
import { hooksFor, TABLED_ARCHITECTURES, tensorsFor } from "../../src/engine/architectures.js";
import {
  attnOut,
  attnPattern,
  embed,
  finalNorm,
  heads,
  hookName,
  mlpOut,
  residMid,
  residPost,
  residPre,
} from "../../src/engine/hooks.js";
import { DECODERS } from "../../src/engine/known-architectures.js";

const REQUIRED = "llama qwen2 qwen3 qwen3moe qwen35moe gemma2 gemma3 phi3 gpt2 olmo2".split(" ");

describe("tensorsFor", () => {
  it("writes llama.cpp's names with their layer", () => {
    expect(tensorsFor("llama", residPost(3), 4)).toEqual([{ name: "l_out-3" }]);
    expect(tensorsFor("llama", residMid(0), 4)).toEqual([{ name: "ffn_inp-0" }]);
    expect(tensorsFor("gemma3", residMid(2), 4)).toEqual([{ name: "sa_out-2" }]);
    expect(tensorsFor("qwen3", heads(1), 4)).toEqual([{ name: "kqv_out-1" }]);
    expect(tensorsFor("qwen3", attnPattern(1), 4)).toEqual([{ name: "kq_soft_max-1" }]);
    expect(tensorsFor("qwen3", finalNorm(), 4)).toEqual([{ name: "result_norm" }]);
  });

  it("takes what a branch adds: after the norm, where there is one", () => {
    expect(tensorsFor("gemma3", attnOut(1), 4)).toEqual([{ name: "attn_post_norm-1" }]);
    expect(tensorsFor("gemma3", mlpOut(1), 4)).toEqual([{ name: "ffn_post_norm-1" }]);
    // Without a layer in the name: the first one after something that has it.
    expect(tensorsFor("gemma2", mlpOut(1), 4)).toEqual([{ name: "ffn_post_norm", after: "ffn_geglu-1" }]);
    expect(tensorsFor("olmo2", mlpOut(1), 4)).toEqual([{ name: "ffn_post_norm", after: "ffn_swiglu-1" }]);
  });

  it("finds unnamed nodes by what they compute and follow", () => {
    expect(tensorsFor("qwen2", attnOut(2), 3)).toEqual([{ op: "MUL_MAT", after: "kqv_out-2" }]);
    expect(tensorsFor("gpt2", attnOut(2), 3)).toEqual([{ op: "ADD", after: "kqv_out-2" }]);
    expect(tensorsFor("phi3", residMid(2), 3)).toEqual([{ op: "ADD", after: "kqv_out-2" }]);
  });

  it("reads residPre from the block before, and from the embeddings", () => {
    for (const architecture of REQUIRED) {
      expect(tensorsFor(architecture, residPre(2), 3)).toEqual(tensorsFor(architecture, residPost(1), 3));
      expect(tensorsFor(architecture, residPre(0), 3)).toEqual(tensorsFor(architecture, embed(), 3));
    }
    expect(tensorsFor("gemma2", embed(), 3)).toEqual([{ name: "inp_scaled" }]);
    expect(tensorsFor("gpt2", embed(), 3)).toEqual([{ name: "inpL" }]);
  });

  it("has nothing for layers that do not exist", () => {
    for (const layer of [-1, 3, 0.5, Number.NaN])
      expect(tensorsFor("llama", residPost(layer), 3)).toEqual([]);
    expect(tensorsFor("llama", { kind: "embed", layer: 0 }, 3)).toEqual([]);
  });

  it("offers block outputs, and nothing it is not sure of, for other architectures", () => {
    expect(tensorsFor("zebra", residPost(0), 2)).toEqual([{ name: "l_out-0" }]);
    expect(hooksFor("zebra", 2).map(hookName)).toEqual(["residPost(0)", "residPre(1)", "residPost(1)"]);
    expect(tensorsFor("constructor", attnOut(0), 2)).toEqual([]);
  });
});

describe("hooksFor", () => {
  it.each(REQUIRED)("%s has every hook point in every layer", (architecture) => {
    const kinds = ["residPre", "attnOut", "heads", "attnPattern", "residMid", "mlpOut", "residPost"];
    const layers = [0, 1].flatMap((layer) => kinds.map((kind) => `${kind}(${layer})`));
    expect(hooksFor(architecture, 2).map(hookName)).toEqual(["embed()", ...layers, "finalNorm()"]);
  });

  it("names no node twice in one alternative, and two hook points share a node only where they are the same place", () => {
    for (const architecture of TABLED_ARCHITECTURES) {
      const owners = new Map<string, string>();
      for (const hook of hooksFor(architecture, 3)) {
        if (hook.kind === "residPre") continue;
        for (const tensor of tensorsFor(architecture, hook, 3)) {
          const node = JSON.stringify(tensor);
          expect(owners.get(node), `${architecture} ${node}`).toBeUndefined();
          owners.set(node, hookName(hook));
        }
      }
    }
  });

  it("covers architectures this llama.cpp has", () => {
    for (const architecture of TABLED_ARCHITECTURES)
      expect(DECODERS.has(architecture), architecture).toBe(true);
    expect(REQUIRED.filter((name) => !TABLED_ARCHITECTURES.includes(name))).toEqual([]);
  });
});
