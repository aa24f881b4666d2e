/**
 * Requests of this app: to its own origin, with the token of the person who is signed in.
 *
 * A token that the server does not take is reported to the one who keeps it, besides.
 */
import { SallyportError } from '#sdk/errors.ts';
import {
  type FetchOptions,
  type RequestArguments,
  type Route,
  Sallyport,
  type Shapes,
} from '#sdk/sallyport.ts';

export type Credentials = {
  readonly token: () => string | null;
  /** The server does not take this token, or no longer does. */
  readonly onRefused: (token: string) => void;
};

const requestMsMax = 30_000;

let credentials: Credentials = { token: () => null, onRefused: () => {} };

/** Called once, by the keeper of the token. */
export const useCredentials = (given: Credentials): void => {
  credentials = given;
};

/** The client of a token, by default the one that is signed in; each failure is shown, so nothing is repeated. */
export const clientOf = (token = credentials.token()): Sallyport =>
  new Sallyport({
    url: location.origin,
    token: token ?? undefined,
    timeoutMs: requestMsMax,
    triesMax: 1,
    fetch: async (...given) => {
      const response = await fetch(...given);
      if (response.status === 401 && token !== null) credentials.onRefused(token);
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

/** The answer as it is, for bytes. */
export const send = (path: string, options?: FetchOptions): Promise<Response> =>
  clientOf().fetch(path, options).catch(inOurWords);

/** For a failure that a person is shown. */
export const inOurWords = (error: unknown): never => {
  if (!(error instanceof SallyportError) || error.code !== 'unreachable') throw error;
  throw new SallyportError(0, {
    code: 'unreachable',
    message: 'The server does not answer.',
    suggestions: ['Check your connection, and that the server runs.'],
  });
};
