/**
 * Values that are fetched by key and cached for a minute, in one instance of a function.
 *
 * Concurrent requests share one fetch; a failure is not cached, and the oldest of too many is evicted.
 */
const heldMsMax = 60_000;
const valuesMax = 200;

type Held<V> = { readonly value: Promise<V>; readonly until: number };

export const heldForAWhile = <K, V>(now: () => number, fetchValue: (key: K) => Promise<V>) => {
  const held = new Map<K, Held<V>>();
  const dropOldest = (): void => {
    for (const key of held.keys()) {
      if (held.size < valuesMax) return;
      held.delete(key);
    }
  };
  return {
    get: (key: K): Promise<V> => {
      const known = held.get(key);
      if (known !== undefined && now() < known.until) return known.value;
      held.delete(key);
      dropOldest();
      const one = { value: fetchValue(key), until: now() + heldMsMax };
      held.set(key, one);
      one.value.catch(() => {
        if (held.get(key) === one) held.delete(key);
      });
      return one.value;
    },
    forget: (key: K): void => void held.delete(key),
  };
};
