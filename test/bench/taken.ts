/** Time taken: the wall clock, and the processor's, which says more on a machine that does other work. */
export interface Taken {
  readonly ms: number;
  /** User and system time of this process, all threads. Threads that wait by spinning count as well. */
  readonly cpuMs: number;
}

export async function take<T>(work: () => Promise<T>): Promise<Taken & { readonly value: T }> {
  const used = process.cpuUsage();
  const start = performance.now();
  const value = await work();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(used);
  return { value, ms, cpuMs: (user + system) / 1000 };
}

/** The run with the median wall time. */
export function middle(runs: readonly Taken[]): Taken {
  return [...runs].sort((a, b) => a.ms - b.ms)[runs.length >> 1]!;
}
