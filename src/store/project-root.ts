/** Where the project lies, whether the code runs from `src/` or from `dist/src/`. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

let found: string | undefined;

/**
 * The absolute path of the project's own folder: the nearest folder above this file whose `package.json` is named
 * `countlens`. Throws when there is none (the package was copied without it).
 */
export function projectRoot(): string {
  if (found !== undefined) return found;
  const start = dirname(fileURLToPath(import.meta.url));
  for (let folder = start; ; folder = dirname(folder)) {
    if (packageName(folder) === "countlens") {
      found = folder;
      return folder;
    }
    if (dirname(folder) === folder) break;
  }
  throw new Error(`projectRoot: no package.json named countlens above ${start}; reinstall the package`);
}

function packageName(folder: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name?: string }).name;
  } catch {
    return undefined;
  }
}
