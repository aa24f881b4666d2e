/**
 * `/api/auth`: people sign in with their browser at the OIDC issuer, and sign out. Answered before the router, since these
 * requests carry no token.
 *
 * A sign-in works only in the browser that started it (AC11): its cookie has the state, the nonce and the verifier. Refuses a
 * return to another origin, and a sign-out that a page of another origin requests. A refused browser is sent back to the app,
 * which shows the reason; a program gets the error.
 */
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import {
  beginSignIn,
  finishSignIn,
  type LoginDeps,
  personOfCookie,
  signOut,
} from '#shared/application/access/browser-sign-in.ts';
import { recordRefusal } from '#shared/application/access/record-refusal.ts';
import type { Deps } from '#shared/application/deps.ts';
import { cookieNamed, flowCookie, setCookie, signInCookie } from '#shared/contracts/browser-request.ts';
import { header } from '#shared/contracts/credentials.ts';
import { authAnswer, callbackQuery, loginQuery, logoutBody } from '#shared/contracts/rest/auth-view.ts';
import { decodeFlow, encodeFlow } from '#shared/contracts/sign-in-flow.ts';
import { AppError, isAppError } from '#shared/errors.ts';
import { type ApiEvent, type ApiRoute, json, queryOf, queryText } from './api-route.ts';
import { bodyOf } from './request-body.ts';
import { requiredOrigin, requireOwnPage } from './request-credentials.ts';
import { throttleAddress } from './throttle-address.ts';

export type Auth = {
  readonly ports: LoginDeps & Deps<'rateLimiter'>;
  /** The address of the deployment for people; absent: the one that a browser names. */
  readonly publicUrl: string | undefined;
};

const prefix = '/api/auth';
/** A person may look for their password. */
const flowSecondsMax = 600;

/** Documented here; `answerAuth` serves them. */
export const authRoutes = [
  {
    method: 'GET',
    path: prefix,
    needs: 'any',
    contract: { summary: 'Show how people sign in here', answers: { 200: authAnswer } },
  },
  {
    method: 'GET',
    path: `${prefix}/login`,
    needs: 'any',
    contract: {
      summary: 'Begin a sign-in at the identity provider',
      query: loginQuery,
      answers: { 302: 'empty' },
      errors: ['not_found', 'issuer_unavailable'],
    },
  },
  {
    method: 'GET',
    path: `${prefix}/callback`,
    needs: 'any',
    contract: {
      summary: 'Finish a sign-in: the identity provider leads the browser here',
      query: callbackQuery,
      answers: { 302: 'empty' },
      errors: ['forbidden', 'not_found', 'issuer_unavailable'],
    },
  },
  {
    method: 'POST',
    path: `${prefix}/logout`,
    needs: 'any',
    contract: {
      summary: 'End the sign-in of this browser, or of all browsers of its person',
      body: logoutBody,
      answers: { 204: 'empty' },
      errors: ['forbidden'],
    },
  },
] as const satisfies readonly Omit<ApiRoute, 'handler'>[];

const paths: readonly string[] = authRoutes.map(({ path }) => path);

export const isAuth = ({ path }: ApiEvent): boolean => paths.includes(path);

export const answerAuth = async (auth: Auth, event: ApiEvent): Promise<StreamedResult> => {
  await throttleAddress(auth.ports, event);
  switch (`${event.httpMethod} ${event.path.slice(prefix.length)}`) {
    case 'GET ':
      return show(auth, event);
    case 'GET /login':
      return begin(auth, event);
    case 'GET /callback':
      return finish(auth, event);
    case 'POST /logout':
      return end(auth, event);
    default:
      throw new AppError('not_found', 'there is no such route', {
        suggestions: ['GET /api/openapi.json lists the routes.'],
      });
  }
};

const show = async ({ ports }: Auth, { headers }: ApiEvent): Promise<StreamedResult> => {
  const secret = cookieNamed(headers, signInCookie);
  const person = secret === undefined ? undefined : await personOfCookie(ports, secret);
  return json(200, { login: ports.login !== undefined, signedIn: person !== undefined });
};

const begin = async (auth: Auth, event: ApiEvent): Promise<StreamedResult> => {
  const { returnTo } = queryOf(event, loginQuery);
  const { url, secrets } = await beginSignIn(auth.ports, callbackOf(auth, event));
  return redirect(url, [setCookie(flowCookie, encodeFlow({ ...secrets, returnTo }), flowSecondsMax)]);
};

const finish = async (auth: Auth, event: ApiEvent): Promise<StreamedResult> => {
  const { headers } = event;
  const forgotten = setCookie(flowCookie, '', 0);
  try {
    const flow = decodeFlow(cookieNamed(headers, flowCookie));
    if (flow === undefined || queryOf(event, callbackQuery).state !== flow.state) throw notBegunHere();
    const { returnTo, ...secrets } = flow;
    const callbackUrl = `${callbackOf(auth, event)}?${queryText(event.multiValueQueryStringParameters)}`;
    const former = cookieNamed(headers, signInCookie);
    const { secret } = await finishSignIn(auth.ports, { callbackUrl, secrets, former });
    const seconds = Math.floor(auth.ports.signInMs / 1000);
    return redirect(returnTo, [forgotten, setCookie(signInCookie, secret, seconds)]);
  } catch (error) {
    auth.ports.telemetry.count('SignInsFailed');
    if (!isAppError(error) || !isForPeople(event)) throw error;
    recordRefusal(auth.ports.telemetry, error, { resource: event.resource, method: event.httpMethod });
    return redirect(`/?sign-in=${error.code}`, [forgotten]);
  }
};

const end = async (auth: Auth, event: ApiEvent): Promise<StreamedResult> => {
  requireOwnPage(event, auth.publicUrl);
  const { everywhere: isEverywhere } = bodyOf(event, logoutBody);
  await signOut(auth.ports, { secret: cookieNamed(event.headers, signInCookie), isEverywhere });
  const headers = { 'set-cookie': setCookie(signInCookie, '', 0), 'cache-control': 'no-store' };
  return { statusCode: 204, headers, body: '' };
};

/** The address that is registered with the issuer. */
const callbackOf = ({ publicUrl }: Auth, event: ApiEvent): string =>
  `${requiredOrigin(event, publicUrl)}${prefix}/callback`;

/** A browser that goes to a page; it shows no JSON. */
const isForPeople = ({ headers }: ApiEvent): boolean =>
  /\btext\/html\b/i.test(header(headers, 'accept') ?? '');

const redirect = (location: string, cookies: readonly string[]): StreamedResult => ({
  statusCode: 302,
  headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  multiValueHeaders: { 'set-cookie': cookies },
  body: '',
});

const notBegunHere = (): AppError =>
  new AppError('invalid_request', 'this sign-in was not started in this browser, or has expired', {
    suggestions: ['Sign in again: GET /api/auth/login.'],
  });
