/**
 * Sparse autoencoders: a residual stream written as a sum of few directions out of many.
 *
 * `pre = in(x) @ encoder + encoderBias`, `acts = activation(pre)`, `x ~ out(acts @ decoder + decoderBias)`, where `in` and
 * `out` undo what the SAE was trained with (nothing, for Gemma Scope). Paper: section 3, "sparse autoencoder analysis",
 * Methods "Sparse autoencoders and feature coalitions".
 */
import type { HookPoint } from "../engine/hooks.js";

/** In which published form a sparse autoencoder was stored. */
export type SaeForm = "Gemma Scope 2" | "Gemma Scope" | "SAELens";

/** A sparse autoencoder, ready to encode. */
export interface Sae {
  /** Folder or file name, for captions. */
  readonly name: string;
  readonly form: SaeForm;
  /**
   * - `jump_relu`: pre where it is above 0 and above the feature's threshold, else 0.
   * - `topk`: the k largest pre of a position where they are above 0, else 0.
   * - `relu`: pre where it is above 0.
   */
  readonly architecture: "jump_relu" | "topk" | "relu";
  /** d_model of the activations it takes. */
  readonly width: number;
  readonly features: number;
  /** `[d_model, feature]` */
  readonly encoder: Float32Array;
  /** `[feature]` */
  readonly encoderBias: Float32Array;
  /** `[feature, d_model]` */
  readonly decoder: Float32Array;
  /** `[d_model]` */
  readonly decoderBias: Float32Array;
  /** `[feature]`, only `jump_relu`. */
  readonly threshold?: Float32Array;
  /** Only `topk`. */
  readonly k?: number;
  /** Is `decoderBias` taken from the input before encoding? */
  readonly centred: boolean;
  /** `[feature]` lengths of the decoder's rows, where pre-activations are measured in them (SAELens, some TopK). */
  readonly decoderNorms?: Float32Array;
  /** Each position on its own: `layer_norm` subtracts the mean and divides by the standard deviation (n - 1) + 1e-5;
   * `constant_norm_rescale` scales to the length sqrt(d_model). Undone after decoding. */
  readonly normalisation: "none" | "layer_norm" | "constant_norm_rescale";
  /** Factor on the input, undone after decoding. 1 for most. */
  readonly inputScale: number;
  /** Where it was trained, where its file or its path says so. */
  readonly hook?: HookPoint;
  /** The model it was trained on, as its file says. */
  readonly trainedOn?: string;
}

/** Fails on arrays that do not fit each other or hold what is no number. `what` begins the error. */
export function checkedSae(sae: Sae, what: string): Sae {
  const { width, features, architecture, k } = sae;
  const lengths: [string, Float32Array | undefined, number, string][] = [
    ["encoder", sae.encoder, width * features, `${width} x ${features}`],
    ["encoderBias", sae.encoderBias, features, `${features}`],
    ["decoder", sae.decoder, features * width, `${features} x ${width}`],
    ["decoderBias", sae.decoderBias, width, `${width}`],
    ["threshold", sae.threshold, features, `${features}`],
    ["decoderNorms", sae.decoderNorms, features, `${features}`],
  ];
  for (const [name, values, length, shape] of lengths) {
    if (values === undefined) continue;
    if (values.length !== length)
      throw new Error(`${what}: ${name} has ${values.length} numbers; expected ${shape}`);
    const bad = values.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0)
      throw new Error(
        `${what}: ${name} holds ${values[bad]} at ${bad}; expected finite numbers, download it again`,
      );
  }
  if (architecture === "jump_relu" && sae.threshold === undefined)
    throw new Error(`${what}: a jump_relu SAE without threshold; expected one a feature`);
  if (architecture === "topk" && !(Number.isInteger(k) && k! >= 1 && k! <= features))
    throw new Error(`${what}: topk with k ${k}; expected a whole number from 1 to ${features}`);
  if (!(Number.isFinite(sae.inputScale) && sae.inputScale > 0))
    throw new Error(`${what}: inputScale ${sae.inputScale}; expected a number above 0`);
  return sae;
}

/** What a file does not say of itself. */
export interface LoadSaeOptions {
  /**
   * Factor on the input, for SAEs trained on scaled activations whose file does not hold the factor (SAELens'
   * `expected_average_only_in`): sqrt(d_model) / mean length of the training activations. Default 1.
   */
  readonly inputScale?: number;
}
