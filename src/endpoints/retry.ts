/** When to ask again, and how long to wait. */
import { random } from "../stats/random.js";

/** A failure of one attempt. */
export interface Failure {
  /** In a few words: `HTTP 429`, `no answer in 60 s`, `broken JSON`. */
  readonly what: string;
  /** Can it go away by itself? */
  readonly passing: boolean;
  /** What the server asks to wait, in ms. */
  readonly retryAfter?: number;
}

/** Statuses that can go away: timeouts, conflicts, too many requests, server faults. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;
}

/** `Retry-After` in ms: seconds or a date; undefined where it is neither. A date in the past is 0. */
export function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === "") return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/**
 * Wait before attempt `attempt + 1`, in ms: between half and all of `base` x 2^attempt, never above `most`, never below what
 * the server asked for. The draw depends on request and attempt alone.
 */
export function backoff(attempt: number, request: number, base: number, most: number, asked = 0): number {
  const full = Math.min(most, base * 2 ** attempt);
  return Math.max(asked, random(0, "backoff", request, attempt).uniform(full / 2, full));
}
