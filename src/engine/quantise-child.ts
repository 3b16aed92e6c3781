/**
 * The quantiser's own process: one job, then the end. llama.cpp aborts on some faults of a file, and it cannot be
 * interrupted; both concern this process alone. What it writes to stderr is its progress and the reason of a failure.
 */
import type { Backend } from "./backend.js";
import { openLibrary } from "./library.js";

export interface QuantiseJob {
  readonly backend: Backend;
  readonly source: string;
  readonly target: string;
  /** `llama_ftype`. */
  readonly fileType: number;
  readonly threads: number;
  readonly requantise: boolean;
}

process.once("message", (job: QuantiseJob) => {
  try {
    const library = openLibrary(job.backend);
    library.keepLog();
    const parameters = {
      ...library.llama.llama_model_quantize_default_params(),
      nthread: job.threads,
      ftype: job.fileType,
      allow_requantize: job.requantise,
    };
    const code: number = library.llama.llama_model_quantize(job.source, job.target, parameters);
    process.send?.({ code }, undefined, {}, () => process.exit(0));
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    process.send?.({ error: text }, undefined, {}, () => process.exit(0));
  }
});

// The notebook's process is gone.
process.on("disconnect", () => process.exit(0));
