/**
 * `for await` at the top of a cell. tslab's converter looks for `await` expressions only, so it takes a cell whose one
 * await is such a loop for a synchronous one, which is then a syntax error.
 */
import { syntax } from "./tslab.js";

/** Is there a `for await` outside every function? */
export function hasForAwait(source: string): boolean {
  if (!/\bfor\s+await\b/.test(source)) return false;
  const ts = syntax();
  const search = (node: unknown): boolean => {
    if (ts.isFunctionLike(node)) return false;
    if (ts.isForOfStatement(node) && node.awaitModifier !== undefined) return true;
    // A truthy answer ends the walk.
    return ts.forEachChild(node, (child) => (search(child) ? true : undefined)) === true;
  };
  return search(ts.createSourceFile("cell.ts", source, ts.ScriptTarget.Latest, false));
}
