/** One thing at a time: a context has one batch and one cache, so calls that overlap in time are run one after another. */
export type Exclusive = <T>(work: () => Promise<T>) => Promise<T>;

export function createQueue(): Exclusive {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}
