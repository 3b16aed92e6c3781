import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectRoot } from "../../src/store/project-root.js";
import { readPages } from "./samples.js";

const folder = mkdtempSync(join(tmpdir(), "countlens-site-"));
let said = "";
let status: number | null = null;

/** What is read of TypeDoc's own record of the API. */
interface Reflection {
  readonly name: string;
  readonly kind: number;
  readonly comment?: { readonly summary: readonly object[] };
  readonly signatures?: readonly Reflection[];
  readonly children?: readonly Reflection[];
}

beforeAll(async () => {
  const root = projectRoot();
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const [program, ...words] = (scripts.docs as string).split(" ");
  const child = spawn(
    program!,
    [...words, "--out", join(folder, "site"), "--json", join(folder, "api.json")],
    {
      cwd: root,
      env: { ...process.env, NO_COLOR: "1" },
    },
  );
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data: Buffer) => {
      said += data.toString();
    });
  status = await new Promise((done) => child.on("close", done));
}, 900_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe("npm run docs", () => {
  it("builds without an error or a warning", () => {
    expect(said).not.toMatch(/warning|error/i);
    expect(status).toBe(0);
  });

  it("holds every guide", () => {
    const text = (name: string) => readFileSync(join(folder, "site", "documents", name), "utf8");
    const built = readdirSync(join(folder, "site", "documents"))
      .map(text)
      .join("\n");
    for (const page of readPages().slice(1)) {
      const heading = /^# (.*)$/m.exec(page.text)![1]!;
      const plain = heading.replace(/[`*]/g, "").replace(/&/g, "&amp;").replace(/'/g, "&#39;");
      expect(built.replace(/<[^>]+>/g, "").replace(/'/g, "&#39;"), page.path).toContain(plain);
    }
  });

  it("says of every public export what it is", () => {
    const api = JSON.parse(readFileSync(join(folder, "api.json"), "utf8")) as Reflection;
    const silent: string[] = [];
    let exports = 0;
    const visit = (parent: Reflection, path: string): void => {
      for (const child of parent.children ?? []) {
        const name = `${path}${child.name}`;
        const described = [child, ...(child.signatures ?? [])].some(
          (one) => (one.comment?.summary ?? []).length > 0,
        );
        exports++;
        // A reference stands for an export that is described where it is declared.
        if (!described && child.kind !== REFERENCE) silent.push(name);
        if (child.kind === NAMESPACE || child.kind === MODULE) visit(child, `${name}.`);
      }
    };
    visit(api, "");
    expect(silent).toEqual([]);
    expect(exports).toBeGreaterThan(300);
  });

  it("needs no network to be read", () => {
    const pages = readdirSync(join(folder, "site"), { recursive: true, encoding: "utf8" }).filter((name) =>
      /\.(html|css)$/.test(name),
    );
    expect(pages.length).toBeGreaterThan(300);
    for (const name of pages) {
      const text = readFileSync(join(folder, "site", name), "utf8");
      expect(text, name).not.toMatch(/<(script|img|iframe|link)\b[^>]*\b(src|href)="(https?:)?\/\//);
      expect(text, name).not.toMatch(/@import|url\(["']?(https?:)?\/\//);
    }
  });
});

const MODULE = 2;
const NAMESPACE = 4;
const REFERENCE = 4_194_304;
