/**
 * Clamping: for counts that a model gets wrong, the final token is moved along the count direction to the projection that the stable fit
 * implies, and nothing else about it is changed (second paper, Methods, "targeted counter-projection clamping", and Supplementary Note 10).
 *
 * Beside every clamp stands a random direction, in which the same token is moved as far.
 */
import { residPost } from "../engine/hooks.js";
import type { Edit } from "../engine/request.js";
import { type Model, requireHook } from "../model/model.js";
import type { Prompt, PromptParts } from "../model/prompt.js";
import { random } from "../stats/random.js";
import { type Provenance, provenance } from "../store/provenance.js";
import { countingPrompt } from "../tasks/counting.js";
import { fillerText } from "../tasks/filler.js";
import { type EditedAnswer, type EditedAnswersOptions, editedAnswers } from "./edited-answers.js";
import type { Probe } from "./probe-fit.js";
import { checkCounts } from "./stable-counts.js";

/** A probe of the final token's residual stream after a layer: `countProbe(final).layers` has this shape. */
export interface LayerProbe {
  readonly layer: number;
  readonly probe: Probe;
}

/** Which layers are clamped together. */
export interface ClampCondition {
  /** For example `layer 3`. */
  readonly name: string;
  readonly layers: readonly number[];
  /** Also clamp every token that is generated. Default false. */
  readonly generated?: boolean;
}

/** Which failures are looked for, and how many are clamped. */
export interface ClampOptions extends EditedAnswersOptions {
  /** Counts to fail on, each in several prompts. Default: the 60 above the probes' range. */
  readonly counts?: readonly number[];
  /** How many failures are clamped, drawn from all that are found. Default 40, as in the paper; fewer where fewer fail. */
  readonly trials?: number;
  /** Prompts a count: the first plain, the others after neutral filler of 1 to 24 words, which share nothing. Default 1. */
  readonly prompts?: number;
  /** The prompt of a count, after some filler ("" for none). Default `countingPrompt(count, { filler })`. */
  readonly prompt?: (count: number, filler: string) => PromptParts;
  /** Default: each probe's layer alone, all of them, and all of them while generating. */
  readonly conditions?: readonly ClampCondition[];
  /** The final token, from the prompt's end: where the probes were fitted. Default -1. */
  readonly final?: number;
  /** Of the draws and the random directions. Default 0. */
  readonly seed?: number;
}

/** One failed prompt, clamped under one condition. */
export interface ClampTrial extends EditedAnswer {
  readonly condition: string;
  /** `count`: the probes' directions. `random`: others, with shifts of equal norm. */
  readonly direction: "count" | "random";
  readonly count: number;
  /** Index of the prompt among the trials. */
  readonly trial: number;
  /** Is the answer now exactly right? It was not before. */
  readonly rescued: boolean;
  /** Change of the right answer's gap, in nats. */
  readonly gapChange: number;
  /** Norm of the shift, summed over the clamped layers. */
  readonly moved: number;
}

/** Where the state stands after a later layer, read by that layer's probe, less the true count, in items. */
export interface ResidualError {
  /** `unclamped`, or a condition. */
  readonly condition: string;
  readonly layer: number;
  /** Mean absolute error over the trials, in items. */
  readonly error: number;
  readonly n: number;
}

/** All trials of a clamping run. */
export interface Clamps {
  readonly trials: readonly ClampTrial[];
  /** Failures found among the prompts asked, and prompts asked. */
  readonly failures: number;
  readonly asked: number;
  /** Of conditions that clamp one layer, at that layer and the later ones. */
  readonly residuals: readonly ResidualError[];
  readonly provenance: Provenance;
}

/**
 * Every condition for every trial, on the count direction and on a random one.
 *
 * Where several layers are clamped, the random shift at each is as long as the clamp's own there, given the clamps before it; while
 * generating, the random shift of the final token is repeated at every generated token.
 *
 * @throws before any work on no probes, a layer without one, counts below 1; then when no count fails
 */
export async function clampCounts(
  model: Model,
  probes: readonly LayerProbe[],
  options: ClampOptions = {},
): Promise<Clamps> {
  const { trials: wanted = 40, prompts: each = 1, final = -1, seed = 0, signal, onProgress } = options;
  const {
    prompt = (count: number, filler: string) => countingPrompt(count, filler === "" ? {} : { filler }),
  } = options;
  const byLayer = checkProbes(model, probes);
  const top = Math.max(...probes.map(({ probe }) => probe.to));
  const counts = checkCounts(
    "clampCounts",
    options.counts ?? Array.from({ length: 60 }, (_, i) => Math.round(top) + 1 + i),
  );
  const conditions = options.conditions ?? defaultConditions(probes);
  for (const { name, layers } of conditions) {
    const missing = layers.find((layer) => !byLayer.has(layer));
    if (missing !== undefined || layers.length === 0) {
      throw new Error(
        `clampCounts: ${name} clamps ${missing === undefined ? "no layer" : `layer ${missing}`}; there are probes of layers ${[...byLayer.keys()].join(", ")}`,
      );
    }
  }
  for (const [name, value] of Object.entries({ trials: wanted, prompts: each }))
    if (!Number.isInteger(value) || value < 1)
      throw new Error(`clampCounts: ${name} ${value}; expected a whole number from 1`);
  const { mode, maxTokens } = options;
  const run: EditedAnswersOptions = {
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
    ...(mode && { mode }),
    ...(maxTokens && { maxTokens }),
  };

  const asked = counts.flatMap((count) =>
    Array.from({ length: each }, (_, p) => {
      const words = p === 0 ? 0 : random(seed, "filler length", count, p).integer(1, 24);
      return { count, filler: fillerText(words, `${seed}/${count}/${p}`) };
    }),
  );
  const all = await model.prompts(asked.map(({ count, filler }) => prompt(count, filler)));
  const before = await editedAnswers(
    model,
    all.map(({ tokens }, i) => ({ tokens, edits: [], answer: String(asked[i]!.count) })),
    run,
  );
  const failing = asked.flatMap(({ count }, i) => (before.answers[i]!.decoded === count ? [] : [i]));
  if (failing.length === 0) {
    throw new Error(
      `clampCounts: none of ${asked.length} prompts of ${counts[0]} to ${counts.at(-1)} items fails, so there is nothing to rescue; ` +
        "choose counts beyond the model's boundary",
    );
  }
  const chosen = random(seed, "trials")
    .sample(failing, Math.min(wanted, failing.length))
    .sort((a, b) => a - b);
  const subjects: Subject[] = chosen.map((i) => ({ prompt: all[i]!, count: asked[i]!.count }));

  const cells: { label: Pick<ClampTrial, "condition" | "direction" | "trial" | "moved">; edits: Edit[] }[] =
    [];
  const allShifts = await shiftsOf(model, subjects, conditions, byLayer, final, run);
  conditions.forEach((condition, c) => {
    const shifts = allShifts[c]!;
    const generated = condition.generated === true ? { generated: true } : {};
    subjects.forEach(({ count }, trial) => {
      const moved = shifts[trial]!.reduce((sum, shift) => sum + Math.abs(shift), 0);
      const label = { condition: condition.name, trial, moved };
      cells.push({
        label: { ...label, direction: "count" },
        edits: clampEdits(condition.layers, byLayer, count, final).map((edit) => ({ ...edit, ...generated })),
      });
      cells.push({
        label: { ...label, direction: "random" },
        edits: condition.layers.map((layer, l) => ({
          hook: residPost(layer),
          positions: [final],
          op: {
            type: "add",
            rows: randomVector(
              model.info.width,
              shifts[trial]![l]!,
              `${seed}/${condition.name}/${layer}/${trial}`,
            ),
          },
          ...generated,
        })),
      });
    });
  });
  const after = await editedAnswers(
    model,
    cells.map(({ label, edits }) => {
      const { prompt: own, count } = subjects[label.trial]!;
      return { tokens: own.tokens, edits, answer: String(count) };
    }),
    run,
  );
  return {
    trials: cells.map(({ label }, i) => {
      const { count } = subjects[label.trial]!;
      const answer = after.answers[i]!;
      const unclamped = before.answers[chosen[label.trial]!]!;
      return {
        ...label,
        ...answer,
        count,
        rescued: answer.decoded === count,
        gapChange: answer.gap - unclamped.gap,
      };
    }),
    failures: failing.length,
    asked: asked.length,
    residuals: await residualErrors(model, subjects, conditions, byLayer, final, run),
    provenance: provenance({ model, notes: { lens: "clamping", trials: chosen.length, seed, final } }),
  };
}

interface Subject {
  readonly prompt: Prompt;
  readonly count: number;
}

/** Probes by layer. */
export type Probes = ReadonlyMap<number, Probe>;

/** The probes by layer. Refuses none, and such as this model has no layer or width for. */
export function checkProbes(model: Model, probes: readonly LayerProbe[]): Probes {
  if (probes.length === 0) throw new Error("clampCounts: no probes; expected at least one layer's");
  for (const { layer, probe } of probes) {
    const width = requireHook(model, residPost(layer), "clampCounts");
    if (probe.width !== width)
      throw new Error(
        `clampCounts: the probe of layer ${layer} is ${probe.width} wide, ${model.info.name} ${width}; fit it on this model's residPost(${layer})`,
      );
  }
  return new Map(probes.map(({ layer, probe }) => [layer, probe]));
}

function defaultConditions(probes: readonly LayerProbe[]): ClampCondition[] {
  const layers = probes.map(({ layer }) => layer).sort((a, b) => a - b);
  const span = `layers ${layers[0]} to ${layers.at(-1)}`;
  return [
    ...layers.map((layer) => ({ name: `layer ${layer}`, layers: [layer] })),
    ...(layers.length > 1 ? [{ name: span, layers }] : []),
    { name: "while generating", layers, generated: true },
  ];
}

/** Edits that put the final token's projection at each layer where the stable fit has `count`. */
export function clampEdits(layers: readonly number[], probes: Probes, count: number, final: number): Edit[] {
  return layers.map((layer) => {
    const { direction, centre, expected } = probes.get(layer)!;
    return {
      hook: residPost(layer),
      positions: [final],
      op: { type: "moveTo", direction, center: centre, value: expected(count) },
    };
  });
}

/** `[condition][trial][layer]` how far each clamp moves the row, given the clamps of the layers before it: one token a request. */
async function shiftsOf(
  model: Model,
  subjects: readonly Subject[],
  conditions: readonly ClampCondition[],
  probes: Probes,
  final: number,
  run: EditedAnswersOptions,
): Promise<number[][][]> {
  const steps = conditions.flatMap(({ layers }) =>
    subjects.flatMap(({ prompt, count }) =>
      layers.map((layer, l) => ({ prompt, count, layer, before: layers.slice(0, l) })),
    ),
  );
  const { results } = await model.evaluate(
    steps.map(({ prompt, count, layer, before }) => ({
      tokens: prompt.tokens,
      edits: clampEdits(before, probes, count, final),
      captures: [{ hook: residPost(layer), positions: [final] }],
    })),
    engineOptions(run),
  );
  const shifts = steps.map(({ count, layer }, i) => {
    const { expected, project } = probes.get(layer)!;
    return expected(count) - project(results[i]!.captures[0]!.data);
  });
  let next = 0;
  return conditions.map(({ layers }) =>
    subjects.map(() => {
      next += layers.length;
      return shifts.slice(next - layers.length, next);
    }),
  );
}

/** A vector of random direction and the given length. */
export function randomVector(width: number, length: number, seed: string): Float32Array {
  const draw = random(seed, "random direction");
  const values = Float64Array.from({ length: width }, () => draw.normal());
  const norm = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(values, (value) => (value * Math.abs(length)) / norm);
}

/** Mean error of the count read at each probed layer, unclamped and from the clamped layer on. */
async function residualErrors(
  model: Model,
  subjects: readonly Subject[],
  conditions: readonly ClampCondition[],
  probes: Probes,
  final: number,
  run: EditedAnswersOptions,
): Promise<ResidualError[]> {
  const layers = [...probes.keys()].sort((a, b) => a - b);
  const single = conditions.filter(({ layers: own, generated }) => own.length === 1 && generated !== true);
  const asked = [{ name: "unclamped", layers: [] as readonly number[] }, ...single];
  const { results } = await model.evaluate(
    asked.flatMap(({ layers: own }) =>
      subjects.map(({ prompt, count }) => ({
        tokens: prompt.tokens,
        edits: clampEdits(own, probes, count, final),
        captures: layers.map((layer) => ({ hook: residPost(layer), positions: [final] })),
      })),
    ),
    engineOptions(run),
  );
  return asked.flatMap(({ name, layers: own }, c) =>
    layers.flatMap((layer, l) => {
      if (layer < (own[0] ?? 0)) return [];
      const errors = subjects.map(({ count }, s) => {
        const row = results[c * subjects.length + s]!.captures[l]!.data;
        return Math.abs(probes.get(layer)!.read(row) - count);
      });
      const error = errors.reduce((sum, value) => sum + value, 0) / errors.length;
      return [{ condition: name, layer, error, n: errors.length }];
    }),
  );
}

function engineOptions({ signal, onProgress, mode }: EditedAnswersOptions) {
  return { ...(signal && { signal }), ...(onProgress && { onProgress }), ...(mode && { mode }) };
}
