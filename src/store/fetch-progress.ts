/** How far a long transfer or hash is. */

/** Has the shape of the engine's progress reports, so that one display serves both. */
export interface FetchProgress {
  /** What is being done, in a few words. */
  readonly what: string;
  readonly done: number;
  /** 0 where it is not known. */
  readonly total: number;
  readonly unit: "bytes";
  /** Mean over about the last five seconds; 0 at the start. */
  readonly bytesPerSecond: number;
  /** Seconds left at that rate; `undefined` where total or rate is not known. */
  readonly secondsLeft?: number;
}

export type OnFetchProgress = (progress: FetchProgress) => void;

/** A function to be told how many bytes are done; passes it on at most every 100 ms, and always when all are. */
export function progressMeter(
  what: string,
  total: number,
  onProgress: OnFetchProgress | undefined,
  now: () => number = () => performance.now(),
): (done: number, final?: boolean) => void {
  if (onProgress === undefined) return () => undefined;
  const marks: { time: number; done: number }[] = [];
  let last = Number.NEGATIVE_INFINITY;
  return (done, final = false) => {
    const time = now();
    if (!final && done !== total && time - last < 100) return;
    last = time;
    marks.push({ time, done });
    while (marks.length > 2 && time - marks[0]!.time > 5000) marks.shift();
    const span = time - marks[0]!.time;
    const bytesPerSecond = span > 0 ? (1000 * Math.max(0, done - marks[0]!.done)) / span : 0;
    const known = total > 0 && bytesPerSecond > 0;
    onProgress({
      what,
      done,
      total,
      unit: "bytes",
      bytesPerSecond,
      ...(known ? { secondsLeft: Math.max(0, total - done) / bytesPerSecond } : {}),
    });
  };
}
