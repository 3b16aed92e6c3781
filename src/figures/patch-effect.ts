/**
 * Patching summed up by layer, beside its controls (second paper, Figure 4f and 4g).
 */
import { escapeLabel } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows, type Trace } from "./figure-spec.js";
import { lineWithBand } from "./interval.js";
import { category, GREY } from "./palette.js";

/** The effect of patching one layer under one condition. */
export interface PatchEffectRow {
  readonly layer: number;
  /** What was patched: `sequence`, `final token`, or a control: `shuffled donor`, `random, equal norm`, `self`. */
  readonly condition: string;
  readonly effect: number;
  readonly low?: number;
  readonly high?: number;
  /** Donors behind it. */
  readonly n: number;
  /** Drawn grey and dashed. Default false. */
  readonly control?: boolean;
}

export interface PatchEffectOptions extends FigureOptions {
  /** What the effect is. Default `donor's count decoded (share)`. */
  readonly effectName?: string;
}

/** Effect over layers, one line a condition with its interval as a band; controls grey. */
export function patchEffect(rows: readonly PatchEffectRow[], options: PatchEffectOptions = {}): FigureSpec {
  requireRows("patch-effect", rows, "layer", "effect", "n");
  const conditions = [...new Set(rows.map((row) => row.condition))];
  const isControl = (name: string): boolean => rows.find((row) => row.condition === name)!.control ?? false;
  const [tasks, controls] = [conditions.filter((c) => !isControl(c)), conditions.filter(isControl)];
  const dashes = ["dash", "dot", "solid"] as const;
  // Controls first: what is claimed is drawn over what it is compared with.
  const data: Trace[] = [...controls, ...tasks].flatMap((condition) => {
    const own = rows.filter((row) => row.condition === condition).sort((a, b) => a.layer - b.layer);
    return lineWithBand(
      own.map(({ layer, effect, ...interval }) => ({ ...interval, x: layer, y: effect })),
      {
        name: escapeLabel(condition),
        color: isControl(condition) ? GREY : category(tasks.indexOf(condition)),
        dash: isControl(condition) ? dashes[controls.indexOf(condition) % 3]! : "solid",
        hover: own.map(
          (row) =>
            `${escapeLabel(condition)}, layer ${row.layer}: ${row.effect.toPrecision(3)} (n = ${row.n})`,
        ),
      },
    );
  });
  const layers = new Set(rows.map((row) => row.layer)).size;
  const ns = rows.map((row) => row.n);
  const [fewest, most] = [Math.min(...ns), Math.max(...ns)];
  const effectName = options.effectName ?? "donor's count decoded (share)";
  return figure(
    {
      kind: "patch-effect",
      caption: `Effect of patching by layer: ${effectName}${rows.some((row) => row.low !== undefined) ? ", with intervals" : ""}; controls grey. n = ${fewest === most ? most : `${fewest} to ${most}`} donors a point, ${layers} layers.`,
      width: options.width ?? "single",
      height: 230,
      data,
      layout: {
        showlegend: true,
        xaxis: { title: { text: "layer" }, ...(layers <= 12 ? { dtick: 1 } : {}) },
        yaxis: { title: { text: escapeLabel(effectName) }, rangemode: "tozero" },
      },
      rows: rows.map((row) => ({ ...row })),
    },
    options,
  );
}
