/** Steps that wait for files: those of one key take turns in the order of their calls, and many run in portions. */
export type InTurn = <T>(key: string, step: () => Promise<T>) => Promise<T>;

export const oneByOne = (): InTurn => {
  const last = new Map<string, Promise<void>>();
  return (key, step) => {
    const before = last.get(key);
    const result = before === undefined ? step() : before.then(step);
    const ended: Promise<void> = result.then(ignore, ignore).then(() => {
      if (last.get(key) === ended) last.delete(key);
    });
    last.set(key, ended);
    return result;
  };
};

const ignore = (): void => undefined;

/** Of the files that a process may have open, which may be few. */
const openFilesMax = 64;

export const inPortions = async <T, R>(
  all: readonly T[],
  step: (one: T) => Promise<R>,
): Promise<readonly R[]> => {
  const results: R[] = [];
  for (let start = 0; start < all.length; start += openFilesMax)
    results.push(...(await Promise.all(all.slice(start, start + openFilesMax).map(step))));
  return results;
};
