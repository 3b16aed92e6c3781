import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../../src/store/project-root.js";
import { describeProvenance, provenance } from "../../src/store/provenance.js";

const model = {
  sha256: "ab".repeat(32),
  info: {
    name: "SmolLM2 135M",
    path: "/somewhere/private/smol.gguf",
    architecture: "llama",
    quantisation: "Q4_1",
    parameters: 134515008,
    llamaVersion: "0.4.0",
    backend: "CPU",
    settings: {
      gpuLayers: 0,
      flashAttention: false,
      kvType: "f32",
      opOffload: false,
      threads: 2,
      chunkTokens: 128,
    },
  },
};

describe("provenance", () => {
  it("records model, engine, package, machine and date as plain JSON, without the path's folder", () => {
    const record = provenance({ model, seed: 3, promptTemplate: "baseline", notes: { tier: 32 } });
    expect(JSON.parse(JSON.stringify(record))).toEqual(record);
    expect(record.model).toMatchObject({ file: "smol.gguf", architecture: "llama", parameters: 134515008 });
    expect(record.engine).toEqual({ ...model.info.settings, llamaVersion: "0.4.0", backend: "CPU" });
    expect(record).toMatchObject({
      package: "countlens",
      seed: 3,
      promptTemplate: "baseline",
      notes: { tier: 32 },
    });
    expect(record.node).toBe(process.version);
    expect(JSON.stringify(record)).not.toContain("private");
    expect(Math.abs(Date.parse(record.date) - Date.now())).toBeLessThan(60_000);
  });

  it("names the checkout's commit", () => {
    const root = projectRoot();
    const { commit } = provenance();
    if (!existsSync(join(root, ".git"))) return expect(commit).toBeUndefined();
    const log = execFileSync("git", ["log", "-5", "--format=%H"], { cwd: root, encoding: "utf8" });
    expect(log).toContain(commit!.replace("+", ""));
  });

  it("takes the date from SOURCE_DATE_EPOCH and refuses a wrong one", () => {
    expect(provenance({}, { SOURCE_DATE_EPOCH: "86400" }).date).toBe("1970-01-02T00:00:00.000Z");
    expect(() => provenance({}, { SOURCE_DATE_EPOCH: "yesterday" })).toThrow(
      /SOURCE_DATE_EPOCH is yesterday/,
    );
  });

  it("says it in one line", () => {
    const record = {
      ...provenance({ model, seed: 3, promptTemplate: "a\nb" }, { SOURCE_DATE_EPOCH: "0" }),
      commit: `${"c".repeat(40)}+`,
    };
    expect(describeProvenance(record)).toBe(
      "smol.gguf (llama, Q4_1, sha256 abababababab); llama.cpp 0.4.0 CPU, KV f32, flash attention off, 0 GPU layers, " +
        `2 threads, chunks of 128; seed 3; template a b; countlens ${record.version} (ccccccc+); 1970-01-01`,
    );
    expect(describeProvenance(provenance({ model: { ...model, verified: false } }))).toContain(
      "sha256 abababababab, unverified file)",
    );
    expect(describeProvenance(provenance({ model: { ...model, verified: true } }))).not.toContain(
      "unverified",
    );
  });
});
