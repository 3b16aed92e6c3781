/**
 * Memorisation: how correctness depends on how often a product stands in the corpus, model by model (first paper,
 * section 3.2).
 */
import { escapeLabel } from "./escape-html.js";
import { type FigureOptions, type FigureSpec, figure, requireRows } from "./figure-spec.js";
import { lineWithBand } from "./interval.js";
import { ordered } from "./palette.js";

/** A model's accuracy over pairs of one corpus frequency. */
export interface FrequencyRow {
  readonly model: string;
  /** Orders the models and their colours. */
  readonly parameters: number;
  /** Bin of corpus counts, in words: `0`, `1`, `2–3`, `4–7`. Bins stand in the order they first appear. */
  readonly bin: string;
  readonly accuracy: number;
  readonly low?: number;
  readonly high?: number;
  /** Products in the bin. */
  readonly n: number;
}

export interface FrequencyCorrectnessOptions extends FigureOptions {
  /** What is counted. Default `times in the corpus`. */
  readonly frequencyName?: string;
}

/** Accuracy over frequency bins, one line a model, dark to bright by size; n of each bin under its label. */
export function frequencyCorrectness(
  rows: readonly FrequencyRow[],
  options: FrequencyCorrectnessOptions = {},
): FigureSpec {
  requireRows("frequency-correctness", rows, "parameters", "accuracy", "n");
  const bins = [...new Set(rows.map((row) => row.bin))];
  const models = [...new Set(rows.map((row) => row.model))].sort((a, b) => size(rows, a) - size(rows, b));
  const colors = ordered(models.length);
  const perBin = bins.map((bin) => {
    const ns = [...new Set(rows.filter((row) => row.bin === bin).map((row) => row.n))];
    return ns.length === 1 ? ns[0]!.toLocaleString("en-US") : `${Math.min(...ns).toLocaleString("en-US")}+`;
  });
  // Plotly leaves out a label that has no room: long ranges go on two lines.
  const room = (options.width === "double" ? 600 : 260) / bins.length;
  const crowded = bins.some((bin) => 5.5 * bin.length > room);
  const labels = bins.map((bin) =>
    escapeLabel(crowded ? bin.replace("–", "–\n") : bin).replace("\n", "<br>"),
  );
  const name = options.frequencyName ?? "times in the corpus";
  return figure(
    {
      kind: "frequency-correctness",
      caption: `Share of right products by how often the product stands in the corpus, for ${models.length} models from small (dark) to large (bright); under each bin in parentheses its number of products${rows.some((row) => row.low !== undefined) ? "; bands: intervals" : ""}.`,
      width: options.width ?? "single",
      height: crowded ? 262 : 250,
      data: models.flatMap((model, m) => {
        const own = bins.flatMap((bin, b) =>
          rows.filter((row) => row.model === model && row.bin === bin).map((row) => ({ ...row, b })),
        );
        return lineWithBand(
          own.map(({ b, accuracy, low, high }) => ({
            x: b,
            y: accuracy,
            ...(low === undefined ? {} : { low }),
            ...(high === undefined ? {} : { high }),
          })),
          {
            name: escapeLabel(model),
            color: colors[m]!,
            hover: own.map(
              (row) =>
                `${escapeLabel(model)}, ${escapeLabel(row.bin)}: ${row.accuracy.toFixed(4)} (n = ${row.n})`,
            ),
          },
        );
      }),
      layout: {
        showlegend: true,
        xaxis: {
          title: { text: escapeLabel(name) },
          tickvals: bins.map((_, i) => i),
          ticktext: bins.map((_, i) => `${labels[i]}<br><span style="font-size:8.5px">(${perBin[i]})</span>`),
          tickangle: 0,
          range: [-0.3, bins.length - 0.7],
        },
        yaxis: {
          title: { text: "share right" },
          range: [Math.max(0, Math.min(...rows.map((row) => row.low ?? row.accuracy)) - 0.05), 1.01],
        },
      },
      rows: rows.map((row) => ({ ...row })),
    },
    options,
  );
}

function size(rows: readonly FrequencyRow[], model: string): number {
  return rows.find((row) => row.model === model)!.parameters;
}
