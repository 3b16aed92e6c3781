/**
 * Writes `{ model }` as `{ model: model }` in a cell.
 *
 * tslab's converter turns names of earlier cells into properties of its exports, but overlooks them in shorthand
 * properties, which then fail with `model is not defined`. What is inserted stays on its line, so lines are as
 * written; columns are put back with `column`.
 */
import { syntax } from "./tslab.js";

export interface Expanded {
  readonly source: string;
  /** The column of the cell as written, for a line (from 1) and a column (from 1) of the expanded one. */
  column(line: number, column: number): number;
}

interface Insertion {
  /** Both from 1, in the cell as written: what is inserted stands before it. */
  readonly line: number;
  readonly column: number;
  readonly offset: number;
  readonly text: string;
}

export function expandShorthand(source: string): Expanded {
  const insertions = findInsertions(source);
  let expanded = "";
  let from = 0;
  for (const { offset, text } of insertions) {
    expanded += source.slice(from, offset) + text;
    from = offset;
  }
  return {
    source: expanded + source.slice(from),
    column(line, column) {
      let written = column;
      for (const insertion of insertions) {
        if (insertion.line !== line || insertion.column >= written) continue;
        written = Math.max(insertion.column, written - insertion.text.length);
      }
      return written;
    },
  };
}

function findInsertions(source: string): Insertion[] {
  const ts = syntax();
  const file = ts.createSourceFile("cell.ts", source, ts.ScriptTarget.Latest, false);
  const insertions: Insertion[] = [];
  const visit = (node: unknown): void => {
    if (ts.isShorthandPropertyAssignment(node)) {
      const offset = node.name.end;
      const { line, character } = ts.getLineAndCharacterOfPosition(file, offset);
      insertions.push({ line: line + 1, column: character + 1, offset, text: `: ${node.name.text}` });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return insertions.sort((a, b) => a.offset - b.offset);
}
