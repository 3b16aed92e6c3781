/** The search over sizes: verify, look ahead, stop at the first size with an error, or go on over the whole grid. */
import type { Progress } from "../engine/request.js";
import { type Item, itemsOf, type Task } from "../tasks/task.js";
import type { Template } from "../tasks/template.js";
import type { Check } from "./verification/check.js";
import { nextSizes } from "./verification/look-ahead.js";

/** Whatever can say right or wrong: a model in some mode, or a server. */
export interface Checker {
  readonly lookAhead: boolean;
  /**
   * One check an item; undefined for what another shard verifies.
   *
   * @param ordinals place of each item among all of the task, from 0, in the order of the sizes
   */
  check(items: readonly Item[], ordinals?: readonly number[]): Promise<(Check | undefined)[]>;
  /** The checks with full answers and margins; a verdict may be corrected here. */
  complete(items: readonly Item[], checks: readonly Check[], ordinals?: readonly number[]): Promise<Check[]>;
}

export interface SearchOptions {
  readonly template: Template;
  readonly upTo: number;
  readonly wholeGrid: boolean;
  readonly texts: "limiters" | "errors";
  readonly mostInstances: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Checked {
  readonly item: Item;
  readonly check: Check;
}

export interface Found {
  /** Every instance of the sizes reported that was verified (by this shard), in order. */
  readonly checked: readonly Checked[];
  /** The last of these sizes. */
  readonly last: number;
  readonly failing?: number;
  readonly stopped?: string;
}

/** Items that go through the door in one call when the whole grid is asked for. */
const SLAB = 20_000;

export async function searchHorizon<I>(
  task: Task<I>,
  checker: Checker,
  options: SearchOptions,
): Promise<Found> {
  const { template, upTo, wholeGrid, mostInstances, signal } = options;
  const counter = countSizes(task, mostInstances);
  const checked: Checked[] = [];
  let seen = 0;
  let failing: number | undefined;
  let next = 1;
  let stopped: string | undefined;
  while (next <= upTo && (wholeGrid || failing === undefined)) {
    signal.throwIfAborted();
    if (seen + counter(next) > mostInstances) {
      const many = counter(next) > mostInstances ? `more than ${mostInstances}` : counter(next);
      stopped = `size ${next} has ${many} instances; mostInstances is ${mostInstances}`;
      break;
    }
    const sizes = wholeGrid
      ? slab(next, upTo, Math.min(SLAB, mostInstances - seen), counter)
      : checker.lookAhead
        ? nextSizes(next, upTo, seen, counter)
        : [next];
    const items = sizes.flatMap((size) => itemsOf(task, size, template));
    const ordinals = items.map((_, i) => seen + i);
    let checks = await checker.check(items, ordinals);
    const completed = (among: (item: Item) => boolean) => complete(checker, items, checks, ordinals, among);
    if (wholeGrid && options.texts === "errors") checks = await completed(() => true);
    // A full answer may correct a verdict, and then another size may be the failing one.
    for (let tried: number | undefined; failing === undefined; ) {
      const first = items.find((_, i) => checks[i]?.verdict === "wrong")?.size;
      if (first === undefined) break;
      if (first === tried) {
        failing = first;
        break;
      }
      checks = await completed((item) => item.size === first);
      tried = first;
    }
    items.forEach((item, i) => {
      const check = checks[i];
      if (check !== undefined) checked.push({ item, check });
    });
    seen += items.length;
    next = sizes.at(-1)! + 1;
    const span = sizes.length === 1 ? `size ${sizes[0]}` : `sizes ${sizes[0]} to ${sizes.at(-1)}`;
    const total = wholeGrid ? gridTotal(upTo, mostInstances, counter) : seen;
    options.onProgress?.({ what: `verified ${span}`, done: seen, total, unit: "instances" });
  }
  const last = wholeGrid ? next - 1 : (failing ?? next - 1);
  return {
    checked: checked.filter(({ item }) => item.size <= last),
    last,
    ...(failing === undefined ? {} : { failing }),
    ...(stopped === undefined ? {} : { stopped }),
  };
}

/** Number of instances of a size, counted once; stops counting above `most`. */
function countSizes<I>(task: Task<I>, most: number): (size: number) => number {
  const known = new Map<number, number>();
  return (size) => {
    let count = known.get(size);
    if (count === undefined) {
      count = 0;
      for (const _ of task.instances(size)) if (++count > most) break;
      known.set(size, count);
    }
    return count;
  };
}

function slab(next: number, upTo: number, most: number, count: (size: number) => number): number[] {
  const sizes = [next];
  for (let size = next + 1, sum = count(next); size <= upTo; size++) {
    sum += count(size);
    if (sum > most) break;
    sizes.push(size);
  }
  return sizes;
}

function gridTotal(upTo: number, most: number, count: (size: number) => number): number {
  let total = 0;
  for (let size = 1; size <= upTo && total + count(size) <= most; size++) total += count(size);
  return total;
}

async function complete(
  checker: Checker,
  items: readonly Item[],
  checks: readonly (Check | undefined)[],
  ordinals: readonly number[],
  among: (item: Item) => boolean,
): Promise<(Check | undefined)[]> {
  const chosen = items.map((item, i) => checks[i]?.verdict === "wrong" && among(item));
  const texts = await checker.complete(
    items.filter((_, i) => chosen[i]),
    checks.filter((check, i): check is Check => chosen[i] === true && check !== undefined),
    ordinals.filter((_, i) => chosen[i]),
  );
  return checks.map((check, i) => (chosen[i] ? texts.shift()! : check));
}
