/** What a cell puts out, in the words of the notebook format (nbformat 4.5). */

export type MimeBundle = Readonly<Record<string, unknown>>;

/** A display message of the Jupyter protocol. */
export interface DisplayData {
  readonly data: MimeBundle;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly transient?: { readonly display_id?: string };
}

/** Where a running cell's outputs go. */
export interface Sink {
  stream(name: "stdout" | "stderr", text: string): void;
  /** `update`: replaces what was shown before under the same display id. */
  display(data: DisplayData, update: boolean): void;
  /** The value of the cell's last expression. */
  result(data: MimeBundle): void;
}

export interface CellError {
  /** For example `RangeError`, `TypeScriptError`, `Interrupted`. */
  readonly ename: string;
  readonly evalue: string;
  /** For a terminal or JupyterLab: coloured with ANSI codes. */
  readonly traceback: readonly string[];
  /** Line of the failing cell, from 1, where it is known. */
  readonly line?: number;
}

export type Output =
  | { output_type: "stream"; name: "stdout" | "stderr"; text: string }
  | { output_type: "display_data"; data: MimeBundle; metadata: Readonly<Record<string, unknown>> }
  | {
      output_type: "execute_result";
      execution_count: number;
      data: MimeBundle;
      metadata: Readonly<Record<string, unknown>>;
    }
  | { output_type: "error"; ename: string; evalue: string; traceback: readonly string[] };

/** Characters of one stream that are kept for a cell; the rest is counted and left out. */
const streamLimit = 2_000_000;

export interface Collector extends Sink {
  readonly outputs: Output[];
}

/**
 * A sink that keeps outputs as a notebook file holds them: neighbouring texts of one stream joined, updates applied
 * to what they replace. `shown` is shared by the cells of a notebook, since an update may come from a later cell.
 */
export function collector(execution: number, shown: Map<string, Output[]>): Collector {
  const outputs: Output[] = [];
  const written = { stdout: 0, stderr: 0 };
  return {
    outputs,
    stream(name, text) {
      const room = streamLimit - written[name];
      written[name] += text.length;
      if (room <= 0) return;
      const kept =
        text.length <= room ? text : `${text.slice(0, room)}\n[more than ${streamLimit} characters: cut]`;
      const last = outputs.at(-1);
      if (last?.output_type === "stream" && last.name === name) last.text += kept;
      else outputs.push({ output_type: "stream", name, text: kept });
    },
    display(data, update) {
      const output: Output = { output_type: "display_data", data: data.data, metadata: data.metadata ?? {} };
      const id = data.transient?.display_id;
      const places = id === undefined ? undefined : shown.get(id);
      if (update && places) {
        for (const place of places) Object.assign(place, output);
        return;
      }
      outputs.push(output);
      if (id !== undefined) shown.set(id, [...(places ?? []), output]);
    },
    result(data) {
      outputs.push({ output_type: "execute_result", execution_count: execution, data, metadata: {} });
    },
  };
}
