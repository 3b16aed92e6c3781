import { memorisation } from "../../src/assays/memorisation.js";
import type { ModelGrid } from "../../src/assays/memorisation-rows.js";
import { random } from "../../src/stats/random.js";
import { loadPublished } from "../../src/store/published.js";
import { type Emit, median } from "./line.js";

export const name = "regressions";

/** Seven models of rising skill on 1..99 x 1..99, for machines without the published grids: the same number of rows. */
function simulated(): { grids: ModelGrid[]; frequency: Map<string, number> } {
  const frequency = new Map<string, number>();
  const draw = random(7, "regressions");
  for (let a = 1; a <= 99; a += 1)
    for (let b = a; b <= 99; b += 1) {
      const count = Math.floor((2000 / (a * b)) * draw.uniform(0, 2));
      if (count > 0) frequency.set(`${a},${b}`, count);
    }
  const grids = [0.5, 1.5, 3, 7, 14, 32, 72].map((size) => {
    const errors: ModelGrid["errors"][number][] = [];
    for (let a = 1; a <= 99; a += 1)
      for (let b = 1; b <= 99; b += 1) {
        const logit = 9 - 2.6 * Math.log10(a * b) + 2 * Math.log10(size);
        if (draw.uniform() > 1 / (1 + Math.exp(-logit)))
          errors.push({ a, b, expected: a * b, predicted: a * b + 10 * draw.integer(1, 12) });
      }
    return { model: `simulated-${size}B`, parameters: size * 1e9, range: [1, 99] as const, errors };
  });
  return { grids, frequency };
}

/**
 * Tables 3 to 6 and the whole audit from 68,607 rows: seconds of computing, data already in memory. The first run includes
 * the compiler's warming up, the median is what a second call in a notebook takes. CPU seconds stand in the context: on a
 * machine with other work the wall clock says little.
 */
export async function run(emit: Emit, _args: string[]): Promise<void> {
  const published = await loadPublished();
  const { grids, frequency } = published ?? simulated();
  const wall: number[] = [];
  const cpu: number[] = [];
  let rows = 0;
  for (let i = 0; i < 5; i += 1) {
    const start = performance.now();
    const used = process.cpuUsage();
    rows = memorisation(grids, frequency).rows;
    wall.push((performance.now() - start) / 1000);
    const { user, system } = process.cpuUsage(used);
    cpu.push((user + system) / 1e6);
  }
  const [first, firstCpu] = [wall[0] as number, cpu[0] as number];
  const context = { rows, data: published ? "published grids" : "simulated grids" };
  emit({
    bench: name,
    metric: "seconds",
    value: median(wall),
    unit: "s",
    n: wall.length,
    context: { ...context, cpuSeconds: median(cpu) },
  });
  emit({
    bench: name,
    metric: "seconds first call",
    value: first,
    unit: "s",
    n: 1,
    context: { ...context, cpuSeconds: firstCpu },
  });
}
