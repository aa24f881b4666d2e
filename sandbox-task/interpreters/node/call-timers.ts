/**
 * The timers of the running call, cleared when it is stopped, and the count of pending work that keeps its event loop going.
 *
 * An endless loop with a pause in it then ends, and an interval does not print into later calls. The functions that set
 * timers are wrapped: hooks on every asynchronous resource would slow every promise down. A listening server does not
 * count as pending: the code wants it to stay.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';

type Timer = NodeJS.Timeout | NodeJS.Immediate;
type SetTimer = (callback: (...values: unknown[]) => void, ...more: unknown[]) => Timer;
type Pause = (...given: unknown[]) => Promise<unknown>;

/** Cancels one timer of any kind. */
const clears = new Map<object, () => void>();

/** Earlier timers stay. */
export const beginTimers = (): void => clears.clear();

export const clearTimers = (): void => {
  for (const clear of clears.values()) clear();
  clears.clear();
};

export const watchTimers = (): void => {
  const require = createRequire(import.meta.url);
  const timers = require('node:timers') as Record<string, SetTimer>;
  const pauses = require('node:timers/promises') as Record<string, Pause>;
  for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
    const original = timers[name];
    if (original === undefined) continue;
    const watched = watchedTimer(original, name !== 'setInterval');
    Object.defineProperties(watched, Object.getOwnPropertyDescriptors(original));
    timers[name] = watched;
    Object.assign(globalThis, { [name]: watched });
  }
  for (const name of ['setTimeout', 'setImmediate']) {
    const original = pauses[name];
    if (original !== undefined) pauses[name] = watchedPause(original, name === 'setTimeout' ? 2 : 1);
  }
  syncBuiltinESMExports();
};

const watchedTimer =
  (original: SetTimer, isOnce: boolean): SetTimer =>
  (callback, ...more) => {
    if (typeof callback !== 'function') return original(callback, ...more);
    const fire = function (this: unknown, ...values: unknown[]): void {
      if (isOnce) clears.delete(timer);
      callback.apply(this, values);
    };
    const timer = original(fire, ...more);
    clears.set(timer, () => {
      clearTimeout(timer as NodeJS.Timeout);
      clearImmediate(timer as NodeJS.Immediate);
    });
    return timer;
  };

/** A pause that is cleared rejects, and with it ends what waited for it. */
const watchedPause =
  (original: Pause, optionsAt: number): Pause =>
  async (...given) => {
    const abort = new AbortController();
    const options = (given[optionsAt] ?? {}) as { readonly signal?: AbortSignal };
    const signal = options.signal ? AbortSignal.any([options.signal, abort.signal]) : abort.signal;
    const withSignal = [...given];
    withSignal[optionsAt] = { ...options, signal };
    clears.set(abort, () => abort.abort());
    try {
      return await original(...withSignal);
    } finally {
      clears.delete(abort);
    }
  };

export type Pending = ReadonlyMap<string, number>;

const servers: ReadonlySet<string> = new Set(['TCPServerWrap', 'PipeServerWrap']);

export const countPending = (): Pending => {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (!servers.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
};

export const isMorePending = (before: Pending): boolean =>
  [...countPending()].some(([kind, count]) => count > (before.get(kind) ?? 0));
