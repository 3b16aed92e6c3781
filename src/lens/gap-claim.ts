/** What logit gaps show, said from effect, interval and control. */
import { formatNumber } from "../figures/format-number.js";
import { type ChangePoint, changePoint } from "../stats/change-point.js";
import { spearman } from "../stats/correlation.js";
import { formatP } from "../stats/format-p.js";
import type { LogitGaps } from "./logit-gap.js";

/** How the logit gap falls with the count, and where it turns negative. */
export interface GapClaim {
  /** Spearman correlation of gap and count in the stable range, and whether it falls (p below 0.05); null below 6 counts. */
  readonly trend: { readonly r: number; readonly p: string; readonly falls: boolean } | null;
  /** Where the gap's sign changes; null where it has one sign only, or there are fewer than 6 counts. */
  readonly sign: ChangePoint | null;
  /** The behavioural boundary: where answers turn wrong, by the same fit. A single slip below it moves the first wrong answer, and not it. */
  readonly boundary: ChangePoint | null;
  /** From above 0 to below, at a step whose interval overlaps that of the behavioural boundary. */
  readonly changesAtBoundary: boolean;
  /** Share of the counts at which a positive gap goes with a right answer, and a negative one with a wrong answer. */
  readonly agrees: number;
  readonly text: string;
}

const round = (value: number): string => formatNumber(value);
/** Change-points lie half-way between counts. */
const half = (value: number): string => String(Number(value.toFixed(1)));

const where = ({ step }: ChangePoint): string =>
  `${half(step.middle)} [${step.interval.map(half).join(", ")}]`;

/** Is there a change, and from no to yes? */
function turns(change: ChangePoint | null): change is ChangePoint {
  if (change === null || change.verdict === "none" || change.verdict === "undecided") return false;
  return change.step.after > change.step.before;
}

/** The claim of the paper's Figure 4c: the gap falls, and turns negative where answers turn wrong. */
export function gapClaim(result: Pick<LogitGaps, "gaps" | "to" | "firstError" | "firstNegative">): GapClaim {
  const { gaps, to, firstError, firstNegative } = result;
  const stable = gaps.filter(({ count }) => to !== null && count <= to);
  const ranks =
    stable.length < 6
      ? null
      : spearman(
          stable.map(({ count }) => count),
          stable.map(({ withEnd }) => withEnd.gap),
        );
  const trend =
    ranks === null
      ? null
      : { r: ranks.r, p: formatP(ranks.student), falls: ranks.r < 0 && ranks.student.p < 0.05 };
  const turning = (turned: readonly boolean[]) =>
    gaps.length < 6 || new Set(turned).size < 2
      ? null
      : changePoint(
          gaps.map(({ count }) => count),
          turned.map(Number),
          { family: "bernoulli" },
        );
  const sign = turning(gaps.map(({ withEnd }) => withEnd.gap < 0));
  const boundary = turning(gaps.map(({ correct }) => !correct));
  const changesAtBoundary =
    turns(sign) &&
    turns(boundary) &&
    sign.step.interval[0] <= boundary.step.interval[1] &&
    boundary.step.interval[0] <= sign.step.interval[1];
  const agrees = gaps.filter(({ withEnd, correct }) => withEnd.gap > 0 === correct).length / gaps.length;
  const withoutEnd = gaps.find(({ withoutEnd: { gap } }) => gap < 0)?.count ?? null;

  const said: string[] = [];
  if (trend === null) said.push("too few counts are stable to say whether the gap falls");
  else
    said.push(
      `in the stable range the gap ${trend.falls ? "falls" : "does not fall"} (rank correlation with the count ${round(trend.r)}, p = ${trend.p})`,
    );
  if (firstNegative === null) said.push("it never turns negative");
  else if (sign === null) said.push(`it is negative from ${firstNegative} on, with nothing to compare`);
  else
    said.push(
      `first negative at ${firstNegative}; its sign ${changesAtBoundary ? "changes" : "is not shown to change"} at the boundary ` +
        `(step at ${where(sign)}, ${sign.verdict}; answers turn wrong at ${boundary === null ? "no count" : where(boundary)}; ` +
        `first wrong answer ${firstError ?? "none"})`,
    );
  said.push(
    `without the end of the answer ${withoutEnd === null ? "it never does" : `first negative at ${withoutEnd}`}`,
    `sign and answer agree at ${round(100 * agrees)} % of ${gaps.length} counts`,
  );
  const text = `${said.join("; ")}.`;
  return { trend, sign, boundary, changesAtBoundary, agrees, text: text[0]!.toUpperCase() + text.slice(1) };
}
