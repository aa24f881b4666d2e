/** Work that goes on at the same time, a few at once; the first failure is thrown to whoever asks for more. */
export type BoundedWork = {
  /** Waits for a free place, then ends while the work goes on. */
  readonly begin: (work: () => Promise<void>) => Promise<void>;
  /** Waits for all of it. */
  readonly end: () => Promise<void>;
  /** Waits for what is under way, and forgets how it ended. */
  readonly abandon: () => Promise<void>;
};

export const openBoundedWork = (atOnceMax: number): BoundedWork => {
  const running = new Set<Promise<void>>();
  let failure: { readonly cause: unknown } | undefined;
  const throwFailure = (): void => {
    if (failure !== undefined) throw failure.cause;
  };
  return {
    begin: async (work) => {
      while (running.size >= atOnceMax) await Promise.race(running);
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

/** The results in the order of the items, made up to so many ahead. */
export async function* madeAhead<Item, Result>(
  items: Iterable<Item>,
  aheadMax: number,
  make: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const coming: Promise<Result>[] = [];
  for (const item of items) {
    const result = make(item);
    // Nobody waits for it when an earlier one fails.
    result.catch(() => undefined);
    coming.push(result);
    const [first] = coming;
    if (coming.length < aheadMax || first === undefined) continue;
    yield await first;
    coming.shift();
  }
  for (const result of coming) yield await result;
}
