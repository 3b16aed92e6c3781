/** What the two processes say to each other. */
import type { EngineInfo } from "./engine.js";
import type { EngineOptions } from "./inline.js";
import type {
  Edit,
  EvaluateOptions,
  GenerateOptions,
  GenerationBatch,
  GenerationRequest,
  Progress,
  Request,
} from "./request.js";
import type { Parcel } from "./transport.js";

export type Call =
  | { readonly type: "open"; readonly options: EngineOptions; readonly folder: string }
  | { readonly type: "evaluate"; readonly requests: readonly Request[]; readonly options: EvaluateOptions }
  | {
      readonly type: "generate";
      readonly requests: readonly GenerationRequest[];
      readonly options: GenerateOptions;
    }
  | { readonly type: "tokenize"; readonly texts: readonly string[]; readonly special: boolean }
  | { readonly type: "pieces" | "pieceBytes"; readonly tokens: Int32Array }
  | { readonly type: "detokenize"; readonly tokens: Int32Array; readonly special: boolean }
  | { readonly type: "close" };

export type ToChild =
  | { readonly id: number; readonly call: Call }
  | { readonly id: number; readonly cancel: true }
  /** A file of tensors that has been read. */
  | { readonly read: string };

export interface Answers {
  open: EngineInfo;
  evaluate: Parcel;
  generate: GenerationBatch;
  tokenize: Int32Array[];
  pieces: string[];
  pieceBytes: Int32Array;
  detokenize: string;
  close: undefined;
}

export type FromChild =
  | { readonly id: number; readonly value: Answers[keyof Answers] }
  | { readonly id: number; readonly error: { readonly name: string; readonly message: string } }
  | { readonly id: number; readonly progress: Progress };

/** In an edit that crosses over, a custom function is only its number. */
export interface RemoteFunction {
  readonly type: "remote";
  readonly number: number;
}

type RowFunction = (rows: Float32Array, positions: Int32Array) => void;

/** Takes the functions out of requests, so that what is left is plain data. */
export function withoutFunctions<R extends { readonly edits?: readonly Edit[] }>(
  requests: readonly R[],
  functions: RowFunction[],
): R[] {
  return mapEdits(requests, (edit) => {
    if (edit.op.type !== "custom") return edit;
    functions.push(edit.op.apply);
    const remote: RemoteFunction = { type: "remote", number: functions.length - 1 };
    return { ...edit, op: remote as unknown as Edit["op"] };
  });
}

/** Puts in functions that call back. */
export function withFunctions<R extends { readonly edits?: readonly Edit[] }>(
  requests: readonly R[],
  callBack: (number: number) => RowFunction,
): R[] {
  return mapEdits(requests, (edit) => {
    const op = edit.op as Edit["op"] | RemoteFunction;
    return op.type === "remote" ? { ...edit, op: { type: "custom", apply: callBack(op.number) } } : edit;
  });
}

function mapEdits<R extends { readonly edits?: readonly Edit[] }>(
  requests: readonly R[],
  change: (edit: Edit) => Edit,
): R[] {
  return requests.map((request) =>
    request.edits === undefined || request.edits.length === 0
      ? request
      : { ...request, edits: request.edits.map(change) },
  );
}
