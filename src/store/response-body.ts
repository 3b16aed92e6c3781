/** The bytes of a response, with a limit on silence. */
import { connectionError, FetchError } from "./fetch-error.js";

export interface BodyOptions {
  /** What errors call the source. */
  readonly label: string;
  /** Longest silence, ms. Default 30,000. */
  readonly stallMs?: number;
  readonly signal?: AbortSignal;
}

/** The chunks of a body as they come. A lost connection and a silence are errors that may be retried; an abort throws
 * the signal's reason. */
export async function* readBody(response: Response, options: BodyOptions): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  const { label, signal, stallMs = 30_000 } = options;
  const reader = response.body.getReader();
  let timer: NodeJS.Timeout | undefined;
  try {
    for (;;) {
      const late = new Promise<"late">((resolve) => {
        timer = setTimeout(() => resolve("late"), stallMs);
      });
      const next = await Promise.race([reader.read(), late]);
      clearTimeout(timer);
      if (next === "late") {
        const seconds = stallMs / 1000;
        throw new FetchError(`download: ${label} sent nothing for ${seconds} s; try again`, { retry: true });
      }
      if (next.done) return;
      yield next.value;
      signal?.throwIfAborted();
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof FetchError ? error : connectionError(error, label);
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => undefined);
  }
}
