/**
 * A caller of the platform who expects faults: what was not answered is asked again where that is safe.
 *
 * An answer that no fault explains ends the work that asked, and the audit shows it.
 */
import { setTimeout as sleep } from 'node:timers/promises';

export type Target = { readonly url: string; readonly token: string };

type Wish = {
  readonly method?: string;
  readonly body?: object | string;
  /** The answers that are as good as success, such as 404 for what may be gone. */
  readonly also?: readonly number[];
};

export type Answer = { readonly status: number; readonly text: string };

export type Ask = {
  /** Asks until it is answered: the request changes nothing the second time, or its results are not counted. */
  (path: string, wish?: Wish): Promise<Answer>;
  /** Asks once; undefined: unknown whether it was done. */
  readonly once: (path: string, wish?: Wish) => Promise<Answer | undefined>;
};

const answerMsMax = 120_000;
/** A start of the platform on a busy machine, and all that waits for it. */
const giveUpMs = 240_000;
const pauseMs = 400;
/** No answer of the platform's own, or one that asks for a later try. */
const passing: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

export const askerOf = (target: Target): Ask => {
  const once = (path: string, wish: Wish = {}) => tryOnce(target, path, wish);
  const always = async (path: string, wish: Wish = {}): Promise<Answer> => {
    const giveUpAt = Date.now() + giveUpMs;
    for (;;) {
      const answer = await once(path, wish);
      if (answer !== undefined) return answer;
      if (Date.now() > giveUpAt) throw new Error(`${path} was not answered in ${giveUpMs} ms`);
      await sleep(pauseMs);
    }
  };
  return Object.assign(always, { once });
};

const tryOnce = async (
  { url, token }: Target,
  path: string,
  { method, body, also = [] }: Wish,
): Promise<Answer | undefined> => {
  const init = {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
  const answer = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(answerMsMax) })
    .then(async (response) => ({ status: response.status, text: await response.text() }))
    // The platform was killed in between, or the answer was cut.
    .catch(() => undefined);
  if (answer === undefined || also.includes(answer.status)) return answer;
  if (passing.has(answer.status)) return undefined;
  if (answer.status >= 300) throw new Error(`${init.method} ${path}: ${answer.status} ${answer.text}`);
  return answer;
};

export const parsed = <T>({ text }: Answer): T => JSON.parse(text) as T;

/** Asks again until it holds; the caller has the reason for which it must come. */
export const until = async <T>(
  ask: () => Promise<T>,
  holds: (answer: T) => boolean,
  what: string,
): Promise<T> => {
  const giveUpAt = Date.now() + giveUpMs;
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    if (Date.now() > giveUpAt) throw new Error(`${what}: not in ${giveUpMs} ms`);
    await sleep(pauseMs);
  }
};
