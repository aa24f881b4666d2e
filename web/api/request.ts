/**
 * Requests of this app: to its own origin, with the token of this tab or the cookie of the browser.
 *
 * A credential that the server does not take is reported to the one who keeps it, besides.
 */

import { ApiClient, type ClientOptions, type FetchOptions } from '#sdk/api-client.ts';
import { SallyportError } from '#sdk/errors.ts';
import type { RequestArguments, Route, Shapes } from '#sdk/route.ts';
import { SandboxFiles } from '#sdk/sandbox-files.ts';
import { answerSilenceMsMax } from '#shared/domain/limits.ts';

export type Credentials = {
  /** Null: the cookie, which the browser sends by itself. */
  readonly token: () => string | null;
  /** The server does not take this credential, or no longer does. */
  readonly onRefused: (token: string | null) => void;
};

/** The server says nothing for so long while a sandbox starts or files are saved; the rest is for the way, as proxies of the deployment wait. */
const requestMsMax = answerSilenceMsMax + 15_000;
const startMsMax = 150_000;

let credentials: Credentials = { token: () => null, onRefused: () => {} };

/** Called once, by the keeper of the token. */
export const useCredentials = (given: Credentials): void => {
  credentials = given;
};

/** The client of a token, by default the one that is signed in; each failure is shown, so nothing is repeated. */
export const clientOf = (
  token = credentials.token(),
  timeoutMs = requestMsMax,
  WebSocket?: ClientOptions['WebSocket'],
): ApiClient =>
  new ApiClient({
    WebSocket,
    url: location.origin,
    token: token ?? undefined,
    timeoutMs,
    triesMax: 1,
    fetch: async (...given) => {
      const response = await fetch(...given);
      if (response.status === 401) credentials.onRefused(token);
      return response;
    },
  });

export const request = <Path extends string, S extends Shapes>(
  route: Route<Path, S>,
  ...given: RequestArguments<Path, S>
): Promise<S['answer']> =>
  clientOf()
    .request(route, ...given)
    .catch(inOurWords);

/** Work on the files of a session, whose sandbox may start first. */
export const withFiles = <T>(sessionId: string, work: (files: SandboxFiles) => Promise<T>): Promise<T> =>
  work(new SandboxFiles(clientOf(credentials.token(), startMsMax), sessionId)).catch(inOurWords);

/** The answer as it is, from an address that the server gave. */
export const send = (path: string, options?: FetchOptions): Promise<Response> =>
  clientOf().fetch(path, options).catch(inOurWords);

/** For a failure that a person is shown. */
export const inOurWords = (error: unknown): never => {
  throw shownFailure(error);
};

export const shownFailure = (error: unknown): unknown => {
  if (!(error instanceof SallyportError)) return error;
  const { status, code } = error;
  // Of a gateway before the server: the address is this page's own, and no person can correct it.
  if (code === 'unexpected_answer' && status > 0)
    return new SallyportError(status, {
      ...{ code, message: `The server's answer cannot be read: HTTP ${status}.` },
      suggestions: [
        'Try again in a moment.',
        'A proxy between this page and the server may have answered instead.',
      ],
    });
  if (code !== 'unreachable') return error;
  return new SallyportError(0, {
    code: 'unreachable',
    message: 'The server does not answer.',
    suggestions: ['Check your connection, and that the server is running.'],
  });
};
