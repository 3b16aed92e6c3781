/** One key for equal content: what a trial or a capture is found again by. */
import { createHash, type Hash } from "node:crypto";

/**
 * sha256 (hex) of plain data: objects with their keys sorted and `undefined` fields left out, arrays in order, typed
 * arrays by kind and bytes, `-0` as `0`. Equal content has equal keys in any process and on any little-endian machine;
 * `[1, 2]` and `Int32Array.of(1, 2)` are not equal. NaN and infinities are allowed. Throws, naming the field, for what
 * is no data: functions, symbols, class instances, `undefined` in an array, cycles.
 *
 * @example contentKey({ seed: 1, tokens: Int32Array.of(1, 2) })
 */
export function contentKey(value: unknown): string {
  const hash = createHash("sha256");
  feed(hash, value, "value", new Set());
  return hash.digest("hex");
}

// Every piece carries its type and length, so that no two different values feed the same bytes.
function feed(hash: Hash, value: unknown, path: string, above: Set<object>): void {
  switch (typeof value) {
    case "string":
      hash.update(`s${Buffer.byteLength(value)}:${value}`);
      return;
    case "number":
      hash.update(`n${value === 0 ? 0 : value};`);
      return;
    case "boolean":
      hash.update(value ? "t" : "f");
      return;
    case "bigint":
      hash.update(`i${value};`);
      return;
    case "object":
      break;
    default:
      refuse(path, typeof value);
  }
  if (value === null) {
    hash.update("0");
    return;
  }
  if (ArrayBuffer.isView(value)) {
    const kind = Object.prototype.toString.call(value).slice(8, -1);
    hash.update(`b${kind}${value.byteLength}:`);
    hash.update(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    return;
  }
  if (above.has(value)) refuse(path, "a cycle");
  above.add(value);
  if (Array.isArray(value)) {
    hash.update(`a${value.length}:`);
    for (let i = 0; i < value.length; i++) feed(hash, value[i], `${path}[${i}]`, above);
  } else {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== null && Object.getPrototypeOf(prototype as object) !== null) {
      refuse(path, (value as object).constructor?.name ?? "a class instance");
    }
    const fields = Object.entries(value).filter(([, v]) => v !== undefined);
    fields.sort(([a], [b]) => (a < b ? -1 : 1));
    hash.update(`o${fields.length}:`);
    for (const [key, field] of fields) {
      feed(hash, key, path, above);
      feed(hash, field, `${path}.${key}`, above);
    }
  }
  above.delete(value);
}

function refuse(path: string, what: string): never {
  throw new Error(
    `contentKey: ${path} is ${what}; expected plain data: numbers, texts, arrays, objects, typed arrays`,
  );
}
