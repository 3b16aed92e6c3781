/**
 * The tap: llama.cpp's evaluation callback, which shows each node of the compute graph as it is computed.
 *
 * For every node in order the callback is first asked whether it wants to see it; then, for those it does, it is called
 * again once the node has been computed and before anything that reads it. What is written into the tensor then is what
 * flows on. A no to the second call ends the decode there, with the logits of the one before: only who wants none may say it.
 */
import koffi from "koffi";
import type { TensorName } from "./architectures.js";
import { EvalCallback, GGML_TYPE_F32, TENSOR } from "./layouts.js";
import type { Library, Pointer } from "./library.js";

/** A node of the graph, just computed. Valid only inside the call. */
export interface Tensor {
  readonly name: string;
  /** Number of elements along each of the four dimensions, fastest first. */
  readonly shape: readonly [number, number, number, number];
  readonly elements: number;
  /** F32 without gaps: what `read` and `write` can handle. */
  readonly readable: boolean;
  /** Copies `count` floats from float `offset` on into `target`. */
  read(target: Float32Array, offset: number, count: number): void;
  write(source: Float32Array, offset: number, count: number): void;
}

/** Ends the decode. */
export const ENOUGH = Symbol("enough");

export interface Watch {
  readonly tensors: readonly TensorName[];
  /** Returns ENOUGH when nothing that comes after this tensor is wanted. */
  readonly onTensor: (tensor: Tensor) => unknown;
}

export interface Tap {
  /** Address to give to llama.cpp. */
  readonly callback: Pointer;
  /** What to look at until told otherwise. */
  watch(watches: readonly Watch[]): void;
  /** Throws what a watch threw during the last decode: an exception cannot pass through llama.cpp. */
  check(): void;
  close(): void;
}

interface Wanted {
  readonly tensor: TensorName;
  readonly watch: Watch;
}

export function createTap(library: Library): Tap {
  const nameOf: (tensor: Pointer) => string = library.llama.ggml_get_name;
  const opOf: (tensor: Pointer) => string = library.llama.ggml_op_desc;
  let active = false;
  // A node wanted by name; names that make others wanted once they have passed; those others, while they are due.
  let direct = new Map<string, Wanted[]>();
  let arms = new Map<string, Wanted[]>();
  let armed: Wanted[] = [];
  let due: Wanted[] = [];
  let failure: unknown;

  function ask(tensor: Pointer): boolean {
    const name = nameOf(tensor);
    due = direct.get(name) ?? [];
    if (armed.length > 0) {
      const op = armed.some((one) => one.tensor.op !== undefined) ? opOf(tensor) : "";
      const matches = (one: Wanted) =>
        one.tensor.name === name || (one.tensor.op !== undefined && one.tensor.op === op);
      const found = armed.filter(matches);
      if (found.length > 0) {
        due = [...due, ...found];
        armed = armed.filter((one) => !matches(one));
      }
    }
    const arming = arms.get(name);
    if (arming !== undefined) armed = [...armed, ...arming];
    return due.length > 0;
  }

  const callback = koffi.register((tensor: Pointer, asking: boolean): boolean => {
    if (!active) return false;
    try {
      if (asking) return ask(tensor);
      const seen = inspect(library, tensor, nameOf(tensor));
      for (const one of due) if (one.watch.onTensor(seen) === ENOUGH) active = false;
    } catch (error) {
      failure ??= error;
    }
    return !asking && active;
  }, koffi.pointer(EvalCallback));

  return {
    callback,
    watch(watches) {
      active = watches.length > 0;
      direct = new Map();
      arms = new Map();
      armed = [];
      failure = undefined;
      for (const watch of watches) {
        for (const tensor of watch.tensors) {
          const table = tensor.after === undefined ? direct : arms;
          const key = tensor.after ?? tensor.name ?? "";
          const list = table.get(key);
          if (list === undefined) table.set(key, [{ tensor, watch }]);
          else list.push({ tensor, watch });
        }
      }
    },
    check() {
      armed = [];
      if (failure === undefined) return;
      const error = failure;
      failure = undefined;
      throw error;
    },
    close() {
      koffi.unregister(callback);
    },
  };
}

function inspect(library: Library, pointer: Pointer, name: string): Tensor {
  const { llama } = library;
  const word = (offset: number): number => Number(koffi.decode.int64(pointer + BigInt(offset)));
  const shape: [number, number, number, number] = [0, 0, 0, 0];
  let gapless = true;
  let stride = 4;
  for (let d = 0; d < 4; d++) {
    shape[d] = word(TENSOR.ne + 8 * d);
    if (shape[d]! > 1 && word(TENSOR.nb + 8 * d) !== stride) gapless = false;
    stride *= shape[d]!;
  }
  return {
    name,
    shape,
    elements: stride / 4,
    readable: gapless && koffi.decode.int32(pointer + BigInt(TENSOR.type)) === GGML_TYPE_F32,
    read(target, offset, count) {
      llama.ggml_backend_tensor_get(pointer, target, offset * 4, count * 4);
    },
    write(source, offset, count) {
      llama.ggml_backend_tensor_set(pointer, source, offset * 4, count * 4);
    },
  };
}
