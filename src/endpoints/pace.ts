/** Keeps requests below a server's limits. */

export interface PaceOptions {
  /** Default: no limit. */
  readonly requestsPerMinute?: number;
  /** Input and output together. Default: no limit. */
  readonly tokensPerMinute?: number;
}

export interface Pace {
  /** Waits for a turn. Rejects when aborted. */
  turn(signal: AbortSignal): Promise<void>;
  /** Tells what an answer used. */
  used(tokens: number): void;
  /** Nobody asks before this many ms have passed. */
  pause(ms: number): void;
}

/** Waits, or rejects with the signal's reason. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/**
 * Turns spaced evenly by `requestsPerMinute`; every token used puts the next turn off by its share of a minute, so the limit
 * on tokens holds on average, with the requests in flight as overshoot.
 */
export function createPace(options: PaceOptions = {}, now: () => number = Date.now): Pace {
  const perRequest = 60_000 / positive("requestsPerMinute", options.requestsPerMinute);
  const perToken = 60_000 / positive("tokensPerMinute", options.tokensPerMinute);
  let next = 0;
  return {
    async turn(signal) {
      // Whoever waited looks again: a pause may have come meanwhile.
      for (;;) {
        signal.throwIfAborted();
        const early = next - now();
        if (early <= 0) break;
        await wait(early, signal);
      }
      next = Math.max(next, now()) + perRequest;
    },
    used(tokens) {
      if (perToken > 0) next = Math.max(next, now()) + tokens * perToken;
    },
    pause(ms) {
      next = Math.max(next, now() + ms);
    },
  };
}

function positive(name: string, value: number | undefined): number {
  if (value === undefined) return Number.POSITIVE_INFINITY;
  if (!(value > 0)) throw new Error(`endpoint: ${name} ${value}; expected a number above 0`);
  return value;
}
