/** What is loaded when it is first used, and then once. A failed load is not kept: the next use tries again. */

export const loadOnce = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((cause: unknown) => {
      loaded = undefined;
      throw cause;
    });
    return loaded;
  };
};
