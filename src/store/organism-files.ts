/** The small trained models that ship with the project, found by name in `data/organisms/`. */
import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { projectRoot } from "./project-root.js";

export interface OrganismFile {
  readonly name: string;
  readonly path: string;
  /** From its card; `undefined` where there is no card, or it says none. */
  readonly sha256?: string;
}

/** All organisms that are there: `<name>.gguf` in the folder, or in a folder of its own below it. Sorted by name. */
export function listOrganisms(folder: string = join(projectRoot(), "data", "organisms")): OrganismFile[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  return entries
    .flatMap((entry) => {
      if (entry.isDirectory()) return [join(folder, entry.name, `${entry.name}.gguf`)];
      return entry.name.endsWith(".gguf") ? [join(folder, entry.name)] : [];
    })
    .filter(isFile)
    .map((path) => {
      const sha256 = cardDigest(path);
      return { name: basename(path, ".gguf"), path, ...(sha256 === undefined ? {} : { sha256 }) };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** `sha256` of the card beside the weights: `<name>.json`, `<name>.card.json` or `card.json`. */
function cardDigest(path: string): string | undefined {
  const stem = path.slice(0, -".gguf".length);
  for (const card of [`${stem}.json`, `${stem}.card.json`, join(stem, "..", "card.json")]) {
    try {
      const { sha256 } = JSON.parse(readFileSync(card, "utf8")) as { sha256?: unknown };
      if (typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256)) return sha256;
    } catch {
      // no such card, or one that says nothing of this
    }
  }
  return undefined;
}
