/**
 * Is a collapse sudden or gradual? A step and a smooth transition fitted to the same data, with intervals for where it
 * happens and how wide it is.
 *
 * Both are one curve, `before + (after - before) g`, with `g` a logistic function of (x - middle) / scale; the step is its
 * limit for a scale of 0, between two neighbouring x. Every middle and scale of a grid is tried, so nothing can end in a
 * local optimum, and the intervals are those of the profile likelihood on that grid.
 */
import { finite, type Numbers, paired } from "./input.js";

/** `bernoulli`: y is 0 or 1 (exactly right or not), levels are probabilities. `gaussian`: y is any number with even noise. */
export type Family = "bernoulli" | "gaussian";

/** A change from one level to another, sudden or drawn out. */
export interface Transition {
  /** Where the curve is half-way, in the unit of x. A step: half-way between the last x before it and the first after it. */
  readonly middle: number;
  /** Profile-likelihood interval of the middle. */
  readonly interval: readonly [low: number, high: number];
  /** Distance over which the curve goes from 10 % to 90 % of the way, in the unit of x; 0 for a step. */
  readonly width: number;
  readonly before: number;
  readonly after: number;
  readonly logLikelihood: number;
  readonly bic: number;
}

/** Step, smooth, none or undecided, with both fits. */
export interface ChangePoint {
  /**
   * - `none`: one level fits better than either, by a BIC smaller by 2 or more;
   * - `smooth`: no step is compatible with the data (0 lies below the interval of the width);
   * - `step`: a step is, and every width that is as well is at most `sudden` times the middle;
   * - `undecided`: the data tell neither.
   */
  readonly verdict: "step" | "smooth" | "none" | "undecided";
  readonly step: Transition;
  /** Best transition with a width above 0. */
  readonly smooth: Transition;
  /** Profile-likelihood interval of the width, 0 included where a step is compatible with the data. Compare it with the middle:
   * how sudden a collapse can be shown to be depends on how densely x was sampled. */
  readonly widthInterval: readonly [low: number, high: number];
  /** One level for everything. */
  readonly none: { readonly level: number; readonly logLikelihood: number; readonly bic: number };
  /** BIC of the smooth transition less that of the step: positive speaks for the step. */
  readonly bicDifference: number;
  readonly n: number;
  readonly level: number;
}

/** Family and resolution of a change-point fit. */
export interface ChangePointOptions {
  readonly family: Family;
  /** Of the intervals. Default 0.95. */
  readonly level?: number;
  /** Largest width of a transition that is still called a step, as a share of its middle. Default 0.25. */
  readonly sudden?: number;
  /** Most middles tried for each width: gaps between neighbouring x, thinned evenly. Default 100. */
  readonly middles?: number;
  /** Widths tried, in a geometric row from the smallest gap to twice the range of x. Default 24. */
  readonly widths?: number;
}

/** 10 % to 90 % of a logistic curve, in units of its scale. */
const WIDTH = 2 * Math.log(9);
/** Upper quantiles of chi-square with one degree of freedom, by level, halved: the drop of the log-likelihood. */
const DROP: Readonly<Record<number, number>> = { 0.9: 1.3528, 0.95: 1.9207, 0.99: 3.3174 };

/**
 * Fits step, smooth transition and one level to `y` over `x`.
 *
 * Weakness: likelihood intervals of a change-point are approximate (the likelihood jumps at every x; in simulations of 40 to
 * 200 points the 95 % interval held the true step in at least 95 %, and a true step was called smooth in at most 5 %), trials
 * are taken as independent, and a transition narrower than the spacing of x cannot be told from a step. A hundred exact-or-not
 * trials are often not enough to tell a broad transition from a step: the verdict is then `undecided`. Gaussian: the noise is
 * taken to be the same on both sides.
 * Needs at least 6 points at 4 different x.
 *
 * @example
 * changePoint(counts, exact, { family: "bernoulli" }).verdict // "step"
 */
export function changePoint(x: Numbers, y: Numbers, options: ChangePointOptions): ChangePoint {
  const { family, level = 0.95, sudden = 0.25, middles = 100, widths = 24 } = options;
  paired("changePoint", x, y, 6);
  const drop = DROP[level];
  if (drop === undefined) throw new Error(`changePoint: level ${level}; expected 0.9, 0.95 or 0.99`);
  const data = gather(finite("changePoint: x", x), finite("changePoint: y", y), family);
  const { xs } = data;
  if (xs.length < 4) throw new Error(`changePoint: ${xs.length} different x; expected at least 4`);

  const gaps = Array.from({ length: xs.length - 1 }, (_, i) => ((xs[i] ?? 0) + (xs[i + 1] ?? 0)) / 2);
  const every = Math.max(1, (gaps.length - 1) / (middles - 1));
  const thinned = gaps.filter((_, i) => Math.floor(i / every) > Math.floor((i - 1) / every));
  const smallestGap = Math.min(...gaps.map((_, i) => (xs[i + 1] ?? 0) - (xs[i] ?? 0)));
  const range = (xs.at(-1) ?? 0) - (xs[0] ?? 0);
  const ratio = ((2 * range) / smallestGap) ** (1 / (widths - 1));
  const widthGrid = Array.from({ length: widths }, (_, i) => smallestGap * ratio ** i);

  const weights = new Float64Array(xs.length);
  const steps = gaps.map((middle) => fit(data, middle, 0, weights));
  const smooths = widthGrid.flatMap((width) => thinned.map((middle) => fit(data, middle, width, weights)));
  const step = best(steps);
  const smooth = best(smooths);
  const ceiling = Math.max(step.logLikelihood, smooth.logLikelihood);
  const compatible = [...steps, ...smooths]
    .filter((candidate) => candidate.logLikelihood >= ceiling - drop)
    .map(({ width }) => width);
  const widthInterval = [Math.min(...compatible), Math.max(...compatible)] as const;

  const none = oneLevel(data);
  const bic = { step: penalised(step, 3, data), smooth: penalised(smooth, 4, data) };
  return {
    verdict: verdictOf(),
    step: { ...step, interval: spanOf(steps, step, drop), bic: bic.step },
    smooth: { ...smooth, interval: spanOf(smooths, smooth, drop), bic: bic.smooth },
    widthInterval,
    none,
    bicDifference: bic.smooth - bic.step,
    n: data.n,
    level,
  };

  function verdictOf(): ChangePoint["verdict"] {
    const transition = Math.min(bic.step, bic.smooth);
    if (none.bic <= transition - 2) return "none";
    if (none.bic < transition + 2) return "undecided";
    if (widthInterval[0] > 0) return "smooth";
    return widthInterval[1] <= sudden * Math.abs(step.middle) ? "step" : "undecided";
  }
}

type Fit = Omit<Transition, "interval" | "bic">;

interface Data {
  readonly family: Family;
  readonly n: number;
  /** Different x, rising, with the number of points at each, their sum of y and of y squared. */
  readonly xs: readonly number[];
  readonly count: Float64Array;
  readonly sum: Float64Array;
  readonly squares: Float64Array;
}

function gather(x: Float64Array, y: Float64Array, family: Family): Data {
  if (family === "bernoulli" && y.some((value) => value !== 0 && value !== 1))
    throw new Error("changePoint: bernoulli y other than 0 and 1; expected 0 and 1, or the family gaussian");
  const xs = [...new Set(x)].sort((a, b) => a - b);
  const index = new Map(xs.map((value, i) => [value, i]));
  const count = new Float64Array(xs.length);
  const sum = new Float64Array(xs.length);
  const squares = new Float64Array(xs.length);
  x.forEach((value, i) => {
    const at = index.get(value) ?? 0;
    const seen = y[i] ?? 0;
    count[at] = (count[at] ?? 0) + 1;
    sum[at] = (sum[at] ?? 0) + seen;
    squares[at] = (squares[at] ?? 0) + seen * seen;
  });
  return { family, n: x.length, xs, count, sum, squares };
}

function fit(data: Data, middle: number, width: number, weights: Float64Array): Fit {
  for (const [i, x] of data.xs.entries())
    weights[i] = width === 0 ? Number(x > middle) : 1 / (1 + Math.exp((-WIDTH * (x - middle)) / width));
  const levels = data.family === "gaussian" ? gaussianLevels(data, weights) : bernoulliLevels(data, weights);
  const [before, after] = levels;
  return { middle, width, before, after, logLikelihood: logLikelihood(data, weights, before, after) };
}

/** Least squares of y on (1 - g) and g. */
function gaussianLevels({ xs, count, sum }: Data, g: Float64Array): [number, number] {
  let aa = 0;
  let ab = 0;
  let bb = 0;
  let ay = 0;
  let by = 0;
  for (let i = 0; i < xs.length; i += 1) {
    const b = g[i] as number;
    const a = 1 - b;
    const w = count[i] as number;
    aa += w * a * a;
    ab += w * a * b;
    bb += w * b * b;
    ay += a * (sum[i] as number);
    by += b * (sum[i] as number);
  }
  const determinant = aa * bb - ab * ab;
  // A transition that lies outside the data leaves one level without data: both then take the mean.
  if (determinant < 1e-9 * (aa + bb) ** 2)
    return [(ay + by) / (aa + 2 * ab + bb), (ay + by) / (aa + 2 * ab + bb)];
  return [(ay * bb - by * ab) / determinant, (by * aa - ay * ab) / determinant];
}

/**
 * Maximum likelihood of the levels, both within 0 and 1. The likelihood is concave in them: Newton's method, with a level that
 * is pushed out of bounds held at the bound, and steps halved until the likelihood rises.
 */
function bernoulliLevels(data: Data, g: Float64Array): [number, number] {
  const { xs, count, sum } = data;
  const inside = (p: number) => Math.min(1 - 1e-9, Math.max(1e-9, p));
  let [before, after] = gaussianLevels(data, g).map((p) => Math.min(0.99, Math.max(0.01, p))) as [
    number,
    number,
  ];
  let reached = logLikelihood(data, g, before, after);
  for (let iteration = 0; iteration < 50; iteration += 1) {
    let ga = 0;
    let gb = 0;
    let aa = 0;
    let ab = 0;
    let bb = 0;
    for (let i = 0; i < xs.length; i += 1) {
      const b = g[i] as number;
      const a = 1 - b;
      const ones = sum[i] as number;
      const zeros = (count[i] as number) - ones;
      const p = a * before + b * after;
      const slope = ones / p - zeros / (1 - p);
      const bend = ones / (p * p) + zeros / ((1 - p) * (1 - p));
      ga += a * slope;
      gb += b * slope;
      aa += a * a * bend;
      ab += a * b * bend;
      bb += b * b * bend;
    }
    const holdA = held(before, ga);
    const holdB = held(after, gb);
    // A little is added to the diagonal: a transition outside the data leaves one level without any.
    const ridge = 1e-9 * (aa + bb);
    const determinant = (aa + ridge) * (bb + ridge) - ab * ab;
    let da = ((bb + ridge) * ga - ab * gb) / determinant;
    let db = ((aa + ridge) * gb - ab * ga) / determinant;
    if (holdA) [da, db] = [0, gb / (bb + ridge)];
    if (holdB) [da, db] = [holdA ? 0 : ga / (aa + ridge), 0];
    let next = reached;
    let candidate: [number, number] = [before, after];
    for (let size = 1; size > 1e-6; size /= 2) {
      candidate = [inside(before + size * da), inside(after + size * db)];
      next = logLikelihood(data, g, ...candidate);
      if (next >= reached) break;
    }
    if (!(next > reached + 1e-9)) break;
    [before, after] = candidate;
    reached = next;
  }
  return [before, after];
}

/** At a bound, with the likelihood rising beyond it. */
const held = (level: number, gradient: number): boolean =>
  (level <= 1e-9 && gradient < 0) || (level >= 1 - 1e-9 && gradient > 0);

function logLikelihood(
  { family, n, xs, count, sum, squares }: Data,
  g: Float64Array,
  before: number,
  after: number,
) {
  let total = 0;
  for (let i = 0; i < xs.length; i += 1) {
    const level = (1 - (g[i] as number)) * before + (g[i] as number) * after;
    const ones = sum[i] as number;
    const all = count[i] as number;
    if (family === "gaussian") total += (squares[i] as number) - 2 * level * ones + all * level * level;
    else total += times(ones, level) + times(all - ones, 1 - level);
  }
  // Gaussian: the variance is estimated too. A perfect fit would make it 0 and the likelihood infinite.
  return family === "gaussian"
    ? (-n / 2) * (Math.log(Math.max(total / n, 1e-12)) + Math.log(2 * Math.PI) + 1)
    : total;
}

const times = (k: number, p: number): number => (k === 0 ? 0 : k * Math.log(Math.max(p, 1e-300)));

function oneLevel(data: Data): ChangePoint["none"] {
  const level = data.sum.reduce((a, b) => a + b, 0) / data.n;
  const logLik = logLikelihood(data, new Float64Array(data.xs.length), level, level);
  return { level, logLikelihood: logLik, bic: penalised({ logLikelihood: logLik }, 1, data) };
}

function penalised(
  fitted: { readonly logLikelihood: number },
  parameters: number,
  { n, family }: Data,
): number {
  return (parameters + (family === "gaussian" ? 1 : 0)) * Math.log(n) - 2 * fitted.logLikelihood;
}

const best = (fits: readonly Fit[]): Fit =>
  fits.reduce((a, b) => (b.logLikelihood > a.logLikelihood ? b : a));

function spanOf(fits: readonly Fit[], at: Fit, drop: number): readonly [number, number] {
  const within = fits.filter((candidate) => candidate.logLikelihood >= at.logLikelihood - drop);
  return [Math.min(...within.map(({ middle }) => middle)), Math.max(...within.map(({ middle }) => middle))];
}
