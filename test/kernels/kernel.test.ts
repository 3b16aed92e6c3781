import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { projectRoot } from "../../src/store/project-root.js";
import { askPython, labMissing } from "./lab-environment.js";

interface Cell {
  readonly status: string;
  readonly count: number;
  readonly text: string;
  readonly error: { readonly ename: string; readonly evalue: string; readonly traceback: string[] } | null;
  readonly data: readonly Record<string, string>[];
  readonly stray: readonly string[];
}

// One kernel, one conversation: a start costs seconds.
const steps = {
  cwd: { code: "process.cwd()" },
  define: {
    code: "let kept = 40;\nfunction check(n: number): number {\n  if (n > 2) throw new RangeError('too large: ' + n);\n  return n;\n}",
  },
  throws: { code: "const fine = 1;\n\ncheck(fine);\ncheck(3);\n" },
  types: { code: "const fine = 1;\nconst wrong: string = fine;" },
  lost: { code: 'const before = 1;\nPromise.reject(new TypeError("nobody handles this"));\nbefore' },
  loop: {
    code: `const g = globalThis as any;
g.turns = 0;
console.log("ready");
for (;;) {
  await new Promise((next) => setImmediate(next));
  g.turns++;
  if (g.turns % 1000 === 0) console.log("turn", g.turns);
}`,
    interrupt_after: 0.5,
  },
  after: {
    code: `const turns = (globalThis as any).turns as number;
await new Promise((next) => setTimeout(next, 1500));
[turns > 0, (globalThis as any).turns === turns, kept + 2].join()`,
  },
  signal: {
    code: `const owner = (globalThis as any)[Symbol.for("countlens.interrupt")];
const started: AbortSignal = owner.signal;
(globalThis as any).saw = "";
console.log("ready");
await new Promise((_, reject) => {
  started.addEventListener("abort", () => {
    (globalThis as any).saw = String((started.reason as Error).message);
    reject(started.reason);
  });
});`,
    interrupt_after: 0.5,
  },
  afterSignal: {
    code: `const now = (globalThis as any)[Symbol.for("countlens.interrupt")];
[(globalThis as any).saw, now.signal.aborted, now.generation].join()`,
  },
  abandoned: {
    // Awaits what no kernel can stop, as an engine's answer is: the loop goes on and must find its signal aborted.
    code: `const g2 = globalThis as any;
g2.refused = 0;
g2.allowed = 0;
const evaluate = async () => {
  const signal: AbortSignal = g2[Symbol.for("countlens.interrupt")].signal;
  await new Promise((next) => g2.setImmediate(next));
  if (signal.aborted) await new Promise(() => g2.refused++);
  g2.allowed++;
};
console.log("ready");
for (;;) await evaluate();`,
    interrupt_after: 0.5,
  },
  afterAbandoned: {
    code: `const allowed = (globalThis as any).allowed as number;
await new Promise((next) => setTimeout(next, 300));
[allowed > 0, (globalThis as any).allowed === allowed, (globalThis as any).refused].join()`,
  },
  synchronous: { code: 'console.log("ready");\nfor (;;) {}', interrupt_after: 1 },
  alive: { code: "kept + 1" },
  all: { codes: ["kept + 3", 'throw new Error("stop here")', "kept + 4", "kept + 5"] },
  next: { code: "kept + 6" },
  rich: { code: 'import * as tslab from "tslab";\ntslab.display.html("<b>shown</b>");' },
  flood: { code: "for (let i = 0; i < 3000; i++) console.log(i);" },
  members: { complete: "process.std" },
  tooltip: { inspect: "kept" },
} as const;

type Name = keyof typeof steps;

// Evaluated while the tests are collected: a skipped suite says why in its name.
const missing = labMissing();

describe.skipIf(missing !== undefined)(`kernel under Jupyter${missing ? `: ${missing}` : ""}`, () => {
  let said: Record<Name, unknown>;
  let ending: { alive: boolean; ended: boolean };
  beforeAll(() => {
    const script = join(projectRoot(), "test", "kernels", "drive_kernel.py");
    const answer = askPython(script, Object.values(steps)) as {
      steps: unknown[];
      alive: boolean;
      ended: boolean;
    };
    said = Object.fromEntries(Object.keys(steps).map((name, i) => [name, answer.steps[i]])) as typeof said;
    ending = answer;
  }, 900_000);
  const cell = (name: Name): Cell => said[name] as Cell;
  const value = (name: Name): string | undefined => cell(name).data[0]?.["text/plain"];

  it("runs in the project's folder", () => {
    expect(value("cwd")).toBe(projectRoot());
  });

  it("sends errors with name, value, and the lines of the cells involved", () => {
    const { status, error } = cell("throws");
    expect(status).toBe("error");
    expect(error).toMatchObject({ ename: "RangeError", evalue: "too large: 3" });
    const traceback = error!.traceback.join("\n");
    expect(traceback).toContain("cell [3], line 4");
    expect(traceback).toMatch(/cell\[2\]:3:\d+/);
    expect(traceback).toMatch(/cell\[3\]:4:1/);
  });

  it("sends the compiler's messages as errors", () => {
    const { status, error } = cell("types");
    expect(status).toBe("error");
    expect(error?.ename).toBe("TypeScriptError");
    expect(error?.evalue).toBe("line 2:7: Type 'number' is not assignable to type 'string'.");
  });

  it("fails a cell for a rejection that nobody handles", () => {
    expect(cell("lost").error).toMatchObject({ ename: "TypeError", evalue: "nobody handles this" });
    expect(cell("lost").error?.traceback.join("\n")).toContain("line 2");
  });

  it("interrupts a loop that awaits, and nothing of it goes on", () => {
    expect(cell("loop").error?.ename).toBe("Interrupted");
    expect(value("after")).toBe("true,true,42");
    expect(cell("after").stray).toEqual([]);
    expect(cell("after").text).toBe("");
  });

  it("aborts the signal that evaluations listen to; the next cell has a fresh one", () => {
    expect(cell("signal").error?.ename).toBe("Interrupted");
    expect(value("afterSignal")).toBe(`interrupted,false,${cell("afterSignal").count}`);
  });

  it("keeps an abandoned loop from evaluating", () => {
    expect(cell("abandoned").error?.ename).toBe("Interrupted");
    expect(value("afterAbandoned")).toBe("true,true,1");
  });

  it("interrupts a loop that never awaits", () => {
    expect(cell("synchronous").error?.ename).toBe("Interrupted");
    expect(value("alive")).toBe("41");
  });

  it("aborts the cells queued behind a failure, and only those", () => {
    const all = said.all as Cell[];
    expect(all.map((c) => c.status)).toEqual(["ok", "error", "aborted", "aborted"]);
    expect(all[1]?.error?.evalue).toBe("stop here");
    expect(cell("next")).toMatchObject({ status: "ok" });
    expect(value("next")).toBe("46");
  });

  it("passes on displays, and every line of a flood", () => {
    expect(cell("rich").data).toEqual([{ "text/html": "<b>shown</b>" }]);
    expect(cell("flood").text.trim().split("\n")).toHaveLength(3000);
  });

  it("completes and explains", () => {
    expect(said.members).toEqual(expect.arrayContaining(["stdout", "stderr"]));
    expect(JSON.stringify(said.tooltip)).toContain("let kept: number");
  });

  it("outlives its cells' errors, and ends when it is told to", () => {
    expect(ending).toMatchObject({ alive: true, ended: true });
  });
});
