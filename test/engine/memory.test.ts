import { expect, it } from "vitest";
import { checkGguf } from "../../src/engine/gguf.js";
import { checkMemory } from "../../src/engine/memory.js";
import { fixturePath } from "./models.js";

it("a model larger than the free memory is refused with both sizes, unless it goes to a GPU", () => {
  const header = checkGguf(fixturePath("llama"));
  expect(() => checkMemory(header, 0)).not.toThrow();
  const huge = { ...header, bytes: 1e15 };
  expect(() => checkMemory(huge, 0)).toThrow(
    /is 1000000\.0 GB, but only .* of memory is available; take a smaller quantisation/,
  );
  expect(() => checkMemory(huge, -1)).not.toThrow();
});
