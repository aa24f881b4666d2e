/** The REST API as a client meets it: every request is bounded, and an answer that refuses is an error that says why. */
import * as z from 'zod';

export type ApiClient = {
  readonly ask: <S extends z.ZodType>(request: ApiRequest, answer: S) => Promise<z.output<S>>;
};

export type ApiRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
};

const requestMsMax = 15_000;
const refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export const openClient = (url: string, token: string): ApiClient => ({
  ask: async ({ method, path, body }, answer) => {
    const response = await fetch(new URL(`/api${path}`, url), {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      // A redirect would take the token elsewhere.
      redirect: 'error',
      signal: AbortSignal.timeout(requestMsMax),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${reasonIn(text)}`);
    return answer.parse(JSON.parse(text));
  },
});

const reasonIn = (text: string): string => {
  try {
    const { error } = refusal.parse(JSON.parse(text));
    return `${error.code}: ${error.message}`;
  } catch {
    return 'without a reason';
  }
};
