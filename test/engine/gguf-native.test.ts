import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { checkGguf } from "../../src/engine/gguf.js";
import { open } from "../../src/model/open.js";
import { provenance } from "../../src/store/provenance.js";
import { mutate, seededInts } from "../store/mutations.js";

const fixtures = join(import.meta.dirname, "..", "fixtures", "architectures");
const build = join(import.meta.dirname, "..", "..", "dist", "src", "engine");
const folder = mkdtempSync(join(tmpdir(), "gguf-native-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Said {
  readonly error?: string;
  readonly finite?: boolean;
  /** The process ended: with a signal, or because it was ended for taking too long. */
  readonly died?: string;
}

/** The engine in a process that takes one file after the other, so that a thousand cost no thousand starts. */
function startEngine(): { ask(path: string): Promise<Said>; end(): void } {
  const code = `
    import { createInterface } from "node:readline";
    import { openInline } from ${JSON.stringify(join(build, "inline.js"))};
    import { chooseBackend } from ${JSON.stringify(join(build, "backend.js"))};
    const backend = await chooseBackend(false);
    for await (const path of createInterface({ input: process.stdin })) {
      let said;
      try {
        const engine = openInline({ path, backend, gpuLayers: 0, threads: 1 });
        const tokens = [3, 5, 8, 11, 14];
        const { results } = await engine.evaluate([
          { tokens, logits: { positions: [-1], full: true }, captures: [{ hook: { kind: "residPost", layer: 0 }, positions: "all" }] },
        ]);
        await engine.tokenize(["one two"], true);
        await engine.pieces(tokens);
        said = { finite: results[0].logits.full.every(Number.isFinite) };
        await engine.close();
      } catch (error) {
        said = { error: error.message };
      }
      console.log(JSON.stringify(said));
    }`;
  let child: ChildProcess | undefined;
  let answer: ((said: Said) => void) | undefined;
  const start = (): ChildProcess => {
    const started = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["pipe", "pipe", "ignore"],
      env: { ...process.env, GGML_NO_BACKTRACE: "1" },
    });
    createInterface({ input: started.stdout! }).on("line", (line) => answer?.(JSON.parse(line) as Said));
    started.once("exit", (exit, signal) => {
      if (child === started) child = undefined;
      answer?.({ died: signal ?? `exit ${exit}` });
    });
    return started;
  };
  return {
    async ask(path) {
      child ??= start();
      const at = child;
      const late = setTimeout(() => at.kill("SIGKILL"), 30_000);
      const said = await new Promise<Said>((resolve) => {
        answer = resolve;
        at.stdin!.write(`${path}\n`);
      });
      clearTimeout(late);
      answer = undefined;
      return said;
    },
    end: () => child?.kill(),
  };
}

describe("1,000 mutations of GGUF files, through llama.cpp", () => {
  it("refused by the check, refused by the engine in a line, or a finite result", async () => {
    const names = readdirSync(fixtures).filter((file) => file.endsWith(".gguf"));
    const files = names.map((name) => readFileSync(join(fixtures, name)));
    const engine = startEngine();
    const draw = seededInts(31);
    const path = join(folder, "mutant.gguf");
    const tally = { refused: 0, error: 0, finite: 0 };
    try {
      for (let k = 0; k < 1000; k++) {
        writeFileSync(path, mutate(files[k % files.length]!, draw, 12_000));
        try {
          checkGguf(path);
        } catch {
          tally.refused++;
          continue;
        }
        const said = await engine.ask(path);
        const what = `mutation ${k} of ${names[k % names.length]}`;
        expect(said.died, what).toBeUndefined();
        if (said.error !== undefined) {
          expect(said.error, what).toMatch(/^[^\n]{20,600}$/);
          tally.error++;
        } else {
          expect(said.finite, what).toBe(true);
          tally.finite++;
        }
      }
    } finally {
      engine.end();
    }
    console.log("1,000 mutations of GGUF files:", tally);
    expect(tally.finite).toBeGreaterThan(100);
    expect(tally.refused).toBeGreaterThan(300);
  }, 600_000);

  it("a file nobody vouches for is called so in every result", async () => {
    const bytes = readFileSync(join(fixtures, "llama.gguf"));
    const { tensors } = checkGguf(join(fixtures, "llama.gguf"));
    bytes[tensors.at(-1)!.offset + 2]! ^= 1;
    const path = join(folder, "flipped.gguf");
    writeFileSync(path, bytes);
    const model = await open(path, { isolated: false, threads: 1 });
    expect(model.verified).toBe(false);
    expect(provenance({ model }).model).toMatchObject({ verified: false, file: "flipped.gguf" });
    await model.close();
    const shipped = await open("tally-25k", { isolated: false, threads: 1 });
    expect(provenance({ model: shipped }).model).toMatchObject({ verified: true });
    await shipped.close();
  });
});
