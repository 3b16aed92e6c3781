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
  /** From above 0 to below, at a step whose interval holds the behavioural boundary. */
  readonly changesAtBoundary: boolean;
  /** Share of the counts at which a positive gap goes with a right answer, and a negative one with a wrong answer. */
  readonly agrees: number;
  readonly text: string;
}

const round = (value: number): string => formatNumber(value);
/** Change-points lie half-way between counts. */
const half = (value: number): string => String(Number(value.toFixed(1)));

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
  const negative = gaps.map(({ withEnd }) => Number(withEnd.gap < 0));
  const sign =
    gaps.length < 6 || new Set(negative).size < 2
      ? null
      : changePoint(
          gaps.map(({ count }) => count),
          negative,
          { family: "bernoulli" },
        );
  const boundary = firstError === null || to === null ? null : (to + firstError) / 2;
  const changesAtBoundary =
    sign !== null &&
    boundary !== null &&
    sign.verdict !== "none" &&
    sign.verdict !== "undecided" &&
    sign.step.after > sign.step.before &&
    sign.step.interval[0] <= boundary &&
    boundary <= sign.step.interval[1];
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
        `(step at ${half(sign.step.middle)} [${sign.step.interval.map(half).join(", ")}], ${sign.verdict}; ` +
        `first wrong answer ${firstError ?? "none"})`,
    );
  said.push(
    `without the end of the answer ${withoutEnd === null ? "it never does" : `first negative at ${withoutEnd}`}`,
    `sign and answer agree at ${round(100 * agrees)} % of ${gaps.length} counts`,
  );
  const text = `${said.join("; ")}.`;
  return { trend, sign, changesAtBoundary, agrees, text: text[0]!.toUpperCase() + text.slice(1) };
}
