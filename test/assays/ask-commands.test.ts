import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { askCommand } from "../../src/assays/ask-command.js";
import { askCommands, shellWord } from "../../src/assays/ask-commands.js";
import { testModel } from "../endpoints/test-model.js";

describe("shellWord", () => {
  it.each(["plain", "((((())))))", "it's", "a\nb", '$HOME `x` "q" \\', "", "*"])(
    "%j comes through a shell whole",
    (text) => {
      expect(execFileSync("sh", ["-c", `printf %s ${shellWord(text)}`]).toString()).toBe(text);
    },
  );
});

describe("ask", () => {
  const run = async (args: readonly string[]) => {
    const lines: string[] = [];
    const errors: string[] = [];
    const output = { line: (text: string) => lines.push(text), error: (text: string) => errors.push(text) };
    const code = await askCommand(args, output);
    return { code, out: lines.join("\n"), err: errors.join("\n") };
  };

  it("the printed command asks the model again", async () => {
    const prompt = { system: "Answer with only the integer.", user: "3*4=" };
    const { ask, llamaCli } = askCommands(testModel, testModel, prompt, 8);
    expect(llamaCli).toContain("-sys 'Answer with only the integer.' -p '3*4='");
    // Words as a shell splits them, after `npm run -s ask --`.
    const words = execFileSync("sh", ["-c", `printf '%s\\n' ${ask}`])
      .toString()
      .trim()
      .split("\n")
      .slice(4);
    const { code, out, err } = await run(words[0] === "--" ? words.slice(1) : words);
    expect([code, err]).toEqual([0, expect.stringContaining("margins over the runner-up")]);
    expect(out).toMatch(/^\d+$/);
  });

  it("says how it is used, and what went wrong", async () => {
    expect(await run([])).toMatchObject({ code: 2, err: expect.stringContaining("usage: npm run ask") });
    expect(await run(["--user", "x", "--max-tokens", "0"])).toMatchObject({ code: 2 });
    expect(await run(["--user", "x", "--nonsense"])).toMatchObject({ code: 2 });
    expect((await run(["--user", "x", "--model", "no/such.gguf"])).code).toBe(1);
  });
});
