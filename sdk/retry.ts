/**
 * The policy of repeated requests: which failures are followed by another try, and after what pause.
 *
 * A request that the server refused for its rate did nothing, so it is always repeated. One whose answer was lost may have
 * been carried out, so only those are repeated that change nothing the second time.
 */
import { isLate, type SallyportError } from './errors.ts';
import type { Repeat } from './route.ts';

/** The sandbox did not run in time: nothing was done, or nothing that a second try would do otherwise. */
const unstarted: readonly string[] = ['sandbox_starting', 'sandbox_unavailable'];
const gatewayStatuses: readonly number[] = [502, 503, 504];
const pauseMsFirst = 250;
const pauseMsMax = 10_000;
/** A server that asks for a longer pause is not asked again. */
const retryAfterMsMax = 60_000;
/** A server that cannot be reached is reported sooner than a busy one. */
const lostTriesMax = 4;
/** About a minute: many requests of one token wait for their turn. */
const rateTriesMax = 12;

export type Try = {
  readonly repeat: Repeat;
  /** So many tries were made. */
  readonly tries: number;
  readonly triesMax: number;
  /** From 0 to 1. */
  readonly chance: number;
};

/** Milliseconds until the next try; undefined: there is none. */
export const retryPauseMs = (
  error: SallyportError,
  { repeat, tries, triesMax, chance }: Try,
): number | undefined => {
  const { retryAfterMs } = error;
  const isRate = error.code === 'rate_limited';
  const most = isRate && triesMax > 1 ? Math.max(triesMax, rateTriesMax) : triesMax;
  if (tries >= most || !canRepeat(error, { repeat, tries })) return undefined;
  if (retryAfterMs === undefined) return backOffMs(tries, chance);
  if (retryAfterMs > retryAfterMsMax) return undefined;
  // All that were refused are told the same pause: together they would be refused again.
  return isRate ? retryAfterMs + backOffMs(tries, chance) : retryAfterMs;
};

/** Doubles with each try, between half of that and the whole. */
export const backOffMs = (tries: number, chance: number): number =>
  Math.min(pauseMsFirst * 2 ** (tries - 1), pauseMsMax) * (0.5 + chance / 2);

const canRepeat = (error: SallyportError, { repeat, tries }: Pick<Try, 'repeat' | 'tries'>): boolean => {
  if (error.code === 'rate_limited') return true;
  if (repeat === 'limited') return false;
  if (unstarted.includes(error.code)) return true;
  return repeat === 'lost' && isLost(error) && tries < lostTriesMax;
};

/**
 * No answer, or that of a gateway which has none: for a function that ended before its answer it says `internal_error`. A server that was
 * silent for the whole time is not asked again.
 */
export const isLost = ({ code, status, cause }: SallyportError): boolean =>
  code === 'internal_error' ||
  (code === 'unreachable' && !isLate(cause)) ||
  (code === 'unexpected_answer' && gatewayStatuses.includes(status));

/** Of what was asked nothing is known, or no sandbox was there for it: another try may go well. */
export const mayPass = (error: SallyportError): boolean => isLost(error) || unstarted.includes(error.code);

/** Waits; an abort ends it with the caller's reason. */
export const pause = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
