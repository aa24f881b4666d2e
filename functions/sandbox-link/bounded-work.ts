/** Concurrent work within a bound; the first failure is thrown when more work is begun or all of it awaited. */
export type BoundedWork = {
  /** Waits until fewer than the bound are running, then returns while the work goes on. */
  readonly begin: (work: () => Promise<void>) => Promise<void>;
  /** Waits for all of it. */
  readonly end: () => Promise<void>;
  /** Waits for all of it and ignores failures. */
  readonly abandon: () => Promise<void>;
};

export const openBoundedWork = (concurrentMax: number): BoundedWork => {
  const running = new Set<Promise<void>>();
  let failure: { readonly cause: unknown } | undefined;
  const throwFailure = (): void => {
    if (failure !== undefined) throw failure.cause;
  };
  return {
    begin: async (work) => {
      while (running.size >= concurrentMax) await Promise.race(running);
      throwFailure();
      const going = work()
        .catch((cause: unknown) => {
          failure ??= { cause };
        })
        .finally(() => running.delete(going));
      running.add(going);
    },
    end: async () => {
      await Promise.all(running);
      throwFailure();
    },
    abandon: async () => {
      await Promise.all(running);
    },
  };
};

/** The results in the order of the items, up to `aheadMax` of them made ahead. */
export async function* madeAhead<Item, Result>(
  items: Iterable<Item>,
  aheadMax: number,
  make: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const coming: Promise<Result>[] = [];
  for (const item of items) {
    const result = make(item);
    // It is not awaited when an earlier one fails.
    result.catch(() => undefined);
    coming.push(result);
    const [first] = coming;
    if (coming.length < aheadMax || first === undefined) continue;
    yield await first;
    coming.shift();
  }
  for (const result of coming) yield await result;
}
