import { describe, expect, it } from "vitest";
import { marginFloor, noiseFloor } from "../../src/model/noise-floor.js";
import { open } from "../../src/model/open.js";
import { fixturePath, REAL } from "../engine/models.js";

const cpu = { gpu: false, threads: 1, isolated: false } as const;

describe("noise floor", () => {
  it("is rounding with F32 weights, and measured once a model", async () => {
    const model = await open(fixturePath("qwen2"), cpu);
    const floor = await noiseFloor(model);
    expect(floor.positions).toBe(32);
    expect(floor.relative).toBeLessThan(1e-5);
    expect(floor.flipped).toBe(0);
    expect(await noiseFloor(model)).toBe(floor);
    expect(await marginFloor(model)).toBe(2 * floor.margin);
    await model.close();
  });

  it.each(REAL)("%s: is reported", { timeout: 600_000 }, async (name) => {
    const model = await open(name, cpu);
    const floor = await noiseFloor(model);
    console.log(`${name}: ${JSON.stringify(floor)}`);
    expect(floor.logit).toBeGreaterThan(0);
    // What quantised weights cost: far above rounding, far below the logits themselves.
    expect(floor.relative).toBeLessThan(0.1);
    await model.close();
  });
});
