import { afterAll, describe, expect, it } from "vitest";
import { collector, type Output } from "../../kernels/outputs.js";
import { createSession } from "../../kernels/session.js";
import { projectRoot } from "../../src/store/project-root.js";

// One session, as in a notebook: cells build on each other. They write to the streams directly, since vitest puts a
// console of its own in place of Node's.
const session = createSession({ root: projectRoot() });
const shown = new Map<string, Output[]>();
afterAll(() => session.close());

async function run(source: string) {
  const kept = collector(session.executions + 1, shown);
  const error = await session.execute(source, kept);
  const value = kept.outputs.find((output) => output.output_type === "execute_result");
  return { error, outputs: kept.outputs, value: value?.data["text/plain"] };
}
const plain = (text: string) => ({ output_type: "execute_result", data: { "text/plain": text } });

describe("createSession", { timeout: 180_000 }, () => {
  it("keeps apart what cells print, show and end with", async () => {
    const printed = await run(
      'process.stdout.write("a\\n");\nprocess.stdout.write("b\\n");\nprocess.stderr.write("c\\n");\n6 * 7',
    );
    expect(printed.error).toBeUndefined();
    expect(printed.outputs).toMatchObject([
      { output_type: "stream", name: "stdout", text: "a\nb\n" },
      { output_type: "stream", name: "stderr", text: "c\n" },
      plain("42"),
    ]);
    const own =
      '({ [Symbol.for("Jupyter.display")]: () => ({ "text/html": "<b>x</b>", "text/plain": "x" }) })';
    expect((await run(own)).outputs).toMatchObject([
      { data: { "text/html": "<b>x</b>", "text/plain": "x" } },
    ]);
    const later =
      '({ [Symbol.for("Jupyter.display")]: async () => ({ "text/plain": "shown after an await" }) })';
    expect((await run(later)).outputs).toMatchObject([plain("shown after an await")]);
    expect((await run("undefined")).outputs).toEqual([]);
    expect((await run("process.cwd()")).value).toBe(projectRoot());
  });

  it("applies the update of a display where it was shown", async () => {
    const first = await run(
      'import * as tslab from "tslab";\nconst display = tslab.newDisplay();\ndisplay.text("before");',
    );
    expect(first.outputs).toMatchObject([{ output_type: "display_data", data: { "text/plain": "before" } }]);
    expect((await run('display.text("after");')).outputs).toEqual([]);
    expect(first.outputs).toMatchObject([{ data: { "text/plain": "after" } }]);
  });

  it("reruns const and let, imports and types", async () => {
    for (const n of [1, 2]) {
      expect(
        (
          await run(
            `import { join } from "node:path";\nconst n = ${n};\nlet s: string = join("a", String(n));\ns`,
          )
        ).value,
      ).toBe(`a/${n}`);
    }
    expect((await run("type Pair = [number, number];\nconst pair: Pair = [n, n];\npair")).value).toBe(
      "[ 2, 2 ]",
    );
    expect((await run("s = s.toUpperCase();\ns")).value).toBe("A/2");
  });

  it("shows what ends a cell as richly as it can", async () => {
    const { outputs } = await run("[{ count: 3, answer: '<b>3</b>' }]");
    expect(outputs).toMatchObject([
      {
        output_type: "execute_result",
        data: {
          "text/html": expect.stringContaining("&lt;b&gt;3"),
          "text/plain": "count  answer\n    3  <b>3</b>",
        },
      },
    ]);
  });

  it("runs a cell whose only await is a loop's", async () => {
    const loop = "const seen: number[] = [];\nfor await (const n of [1, 2]) seen.push(n);\nseen";
    expect((await run(loop)).value).toBe("[ 1, 2 ]");
    const inside = "const later = async () => { for await (const n of [1]) seen.push(n); };\nseen.length";
    expect((await run(inside)).value).toBe("2");
    expect((await run("await later();\nseen.length")).value).toBe("3");
  });

  it("forgets what cells declared when it is reset", async () => {
    await run("const forgotten = 1;\ntype Gone = string;");
    session.reset();
    expect((await run("typeof forgotten")).error?.evalue).toContain("Cannot find name 'forgotten'");
    expect((await run("const again: Gone = 'a';")).error?.evalue).toContain("Cannot find name 'Gone'");
    expect((await run("const forgotten = 'new';\nforgotten")).value).toBe("new");
  });

  it("takes names of earlier cells in shorthand properties, and counts columns as written", async () => {
    await run("const model = 'a';\nlet size = 1;");
    expect(
      (await run("const both = { model, size };\n({ size } = { size: 5 });\n[both.model, size]")).value,
    ).toBe("[ 'a', 5 ]");
    const { error } = await run("const again = { model, size }; nowhere;");
    expect(error?.evalue).toContain("line 1:32: Cannot find name 'nowhere'");
  });

  it("imports the built library by name, with its types", async () => {
    const { error, value } = await run(
      'import { hookName, residPost } from "countlens";\nhookName(residPost(3))',
    );
    expect(error).toBeUndefined();
    expect(value).toBe("residPost(3)");
    const wrong = await run('residPost("3")');
    expect(wrong.error).toMatchObject({ ename: "TypeScriptError", line: 1 });
  });

  it("finds the failing line behind types, imports, functions of other cells and awaits", async () => {
    await run(
      "interface Size { n: number }\n\nfunction half(size: Size): number {\n  if (size.n % 2) throw new RangeError('odd: ' + size.n);\n  return size.n / 2;\n}",
    );
    const defined = session.executions;
    const { error } = await run(
      'import { setTimeout as sleep } from "node:timers/promises";\nconst one: Size = { n: 2 };\nhalf(one);\nawait sleep(1);\nhalf({\n  n: 3,\n});',
    );
    expect(error).toMatchObject({ ename: "RangeError", evalue: "odd: 3", line: 5 });
    const traceback = error!.traceback.join("\n");
    expect(traceback).toContain(`cell[${defined}]:4:`);
    expect(traceback).toContain(`cell[${session.executions}]:5:1`);
    // Nothing of the machinery below the cell.
    expect(traceback).not.toMatch(/node:|session/);
  });

  it.each([
    ["a type error", "const a = 1;\nconst b: string = a;", "TypeScriptError", /line 2:7/, 2],
    ["a syntax error", "const a = ;", "TypeScriptError", /Expression expected/, 1],
    [
      "a package that is not there",
      'import { x } from "no-such-package-here";\nx',
      "TypeScriptError",
      /Cannot find module/,
      1,
    ],
    ["a thrown string", 'throw "words"', "Thrown", /^words$/, undefined],
    ["a thrown nothing", "throw undefined", "Thrown", /^undefined$/, undefined],
    [
      "an error's cause",
      'throw new Error("outer", { cause: new TypeError("inner") })',
      "Error",
      /^outer$/,
      1,
    ],
  ])("reports %s", async (name, source, ename, evalue, line) => {
    const { error } = await run(source);
    expect(error?.ename).toBe(ename);
    expect(error?.evalue).toMatch(evalue);
    expect(error?.line).toBe(line);
    if (name === "an error's cause") expect(error?.traceback.at(-1)).toBe("caused by TypeError: inner");
  });

  it("keeps variables of earlier cells when one fails", async () => {
    await run("let survivor = 1;");
    await run("survivor = 2;\nconst half1 = 1;\nthrow new Error('x');");
    expect((await run("survivor")).value).toBe("2");
    expect((await run("half1")).error?.evalue).toContain("Cannot find name 'half1'");
  });

  it("interrupts: the signal aborts, timers die, prints are dropped, the next cell is fresh", async () => {
    const going = run(`
const g = globalThis as any;
g.turns = 0;
g.sleeper = 0;
const { signal } = g[Symbol.for("countlens.interrupt")];
signal.addEventListener("abort", () => { g.reason = signal.reason.name; });
import { setTimeout as sleep } from "node:timers/promises";
(async () => { for (;;) { await sleep(1); g.sleeper++; } })();
const every = setInterval(() => { g.turns++; process.stdout.write("late"); }, 1);
for (;;) { await new Promise((next) => setImmediate(next)); g.turns++; }`);
    await until(() => (globalThis as { sleeper?: number }).sleeper! > 3);
    session.interrupt();
    const { error, outputs } = await going;
    expect(error?.ename).toBe("Interrupted");
    const g = globalThis as unknown as { turns: number; sleeper: number; reason: string };
    expect(g.reason).toBe("AbortError");
    const [turns, sleeper, printed] = [g.turns, g.sleeper, JSON.stringify(outputs)];
    await new Promise((done) => setTimeout(done, 300));
    expect([g.turns, g.sleeper, JSON.stringify(outputs)]).toEqual([turns, sleeper, printed]);
    const owner = 'const o = (globalThis as any)[Symbol.for("countlens.interrupt")];\no.signal.aborted';
    expect((await run(owner)).value).toBe("false");
  });

  it("lets an interrupted cell put things in order", async () => {
    const going = run(`
const { signal: stop } = (globalThis as any)[Symbol.for("countlens.interrupt")];
try {
  await new Promise((_, reject) => stop.addEventListener("abort", () => reject(stop.reason)));
} finally {
  process.stdout.write("tidied");
}`);
    await new Promise((done) => setTimeout(done, 200));
    session.interrupt();
    const { error, outputs } = await going;
    expect(error?.ename).toBe("Interrupted");
    expect(outputs).toMatchObject([{ text: "tidied" }]);
  });

  it("stops what a failed cell had running", async () => {
    const { error } = await run(`
const own = (globalThis as any)[Symbol.for("countlens.interrupt")].signal;
(globalThis as any).failedSignal = own;
throw new Error("first");`);
    expect(error?.evalue).toBe("first");
    expect((globalThis as unknown as { failedSignal: AbortSignal }).failedSignal.aborted).toBe(true);
  });

  it("refuses a second cell while one runs", async () => {
    const going = run("await new Promise((done) => setTimeout(done, 200)); 1");
    await expect(session.execute("2", collector(0, shown))).rejects.toThrow("another cell is running");
    expect((await going).value).toBe("1");
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((done) => setTimeout(done, 10));
}
