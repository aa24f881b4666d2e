/**
 * Preview: a web server of user code, shown to the session's owner alone. It is answered before the router, by any method; it
 * authenticates by itself, and its answers are the page's own.
 *
 * The page is untrusted and shares our origin, so it is sandboxed into an origin of its own: it cannot read the
 * app's storage, and all it gets is a grant for its own path. It may talk to that path and to nothing else (`preview-headers.ts`).
 * Neither the grant nor the bearer goes inside, and no cookie comes out (L14).
 *
 * The grant is a cookie, and part of the address at which a browser shows the page: from a sandboxed origin Chromium sends no cookie with
 * modules and requests of the page, and with what else it loads only where third-party cookies are allowed (ADR 0052).
 */

import * as z from 'zod';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { endInTime, isEventStream } from '#shared/adapters/lambda/timed-stream.ts';
import { findSession, sessionNotFound } from '#shared/application/access/find-session.ts';
import { openPreview, type PreviewTarget } from '#shared/application/access/preview-access.ts';
import { throttle } from '#shared/application/access/throttle.ts';
import type { AccessDeps, Deps } from '#shared/application/deps.ts';
import { leasePreviewPort, requirePreviewPort } from '#shared/application/sandbox/lease-preview-port.ts';
import { refusalOf } from '#shared/application/sandbox/sandbox-server-error.ts';
import { cookieNamed, originOf } from '#shared/contracts/browser-request.ts';
import { bearerToken, header } from '#shared/contracts/credentials.ts';
import { type PreviewPath, readPreviewPath } from '#shared/contracts/preview-path.ts';
import { asksForUpgrade, tunnelHeaders, upgradeProtocol } from '#shared/contracts/preview-upgrade.ts';
import { refusalHeader } from '#shared/contracts/sandbox-call.ts';
import { intentOf } from '#shared/domain/access.ts';
import { canonicalUuid, isUuid } from '#shared/domain/ids.ts';
import { previewSecondsMax } from '#shared/domain/limits.ts';
import type { Principal } from '#shared/domain/principal.ts';
import type { LiveSandbox } from '#shared/domain/sandbox.ts';
import { AppError, type AppErrorDetails, type ErrorCode } from '#shared/errors.ts';
import {
  acquireForRequest,
  insideErrors,
  type SessionSandboxPorts,
  type SessionSandboxSettings,
} from './acquire-for-request.ts';
import type { ApiEvent, ApiRoute } from './api-route.ts';
import { asSent, opensPage, queryOfPreview, withoutTicket } from './preview-address.ts';
import { cookieAttributes, fence, fenced, forwarded } from './preview-headers.ts';
import { refuseAstray } from './preview-redirects.ts';
import { bytesOf } from './request-body.ts';

export const previewRoute = {
  path: '/api/sessions/{id}/ports/{port}/{proxy+}',
  needs: 'own:write',
  resource: 'session',
  contract: {
    summary: 'Forward a request to a port of the sandbox',
    query: z.object({
      ticket: z.string().optional().describe('Ticket, exchanged for a cookie of this path.'),
    }),
    body: 'bytes',
    answers: { 200: 'bytes', 302: 'empty', 308: 'empty' },
    types: ['*/*'],
    errors: [...insideErrors, 'upgrade_required'],
  },
} as const satisfies Omit<ApiRoute, 'method' | 'handler'>;

const cookieName = 'sallyport-preview';

type Asked = PreviewTarget & Pick<PreviewPath, 'grant'> & { readonly rest: string };

/** Undefined for any other path. */
export const previewTarget = ({ path }: ApiEvent): Asked | undefined => {
  const read = readPreviewPath(path);
  if (read === undefined) return undefined;
  const { root: _, page: rest, sessionId, ...asked } = read;
  return { ...asked, sessionId: canonicalUuid(sessionId), rest };
};

/** The root of the preview: the path of the cookie, and the policy's one source. */
const pathOf = ({ sessionId, port }: PreviewTarget): string => `/api/sessions/${sessionId}/ports/${port}/`;

export type Preview = {
  readonly ports: SessionSandboxPorts & AccessDeps & Deps<'rateLimiter' | 'sandboxBearer'>;
  readonly settings: SessionSandboxSettings;
};

export const answerPreview = async (
  { ports, settings }: Preview,
  event: ApiEvent,
  { rest, grant, ...target }: Asked,
): Promise<StreamedResult> => {
  const token = bearerToken(event.headers);
  const ticket = event.queryStringParameters?.['ticket'];
  const cookie = cookieNamed(event.headers, cookieName);
  const access = await openPreview(ports, target, { token, ticket, grant: grant ?? cookie });
  // A grant costs a ticket, which was counted when it was made.
  if (access.kind === 'open') await throttle(ports, access.principal);
  // The path of a cookie is made of it: nothing in it may end an attribute.
  if (!isUuid(target.sessionId)) throw sessionNotFound();
  if (access.kind === 'granted') return withCookie(event, { target, secret: access.secret });
  if (rest === '') return redirect(event, `${event.path}/${queryOfPreview(event)}`);
  const isByCookie = token === undefined && grant === undefined && cookie !== undefined;
  if (isByCookie && event.httpMethod === 'GET' && opensPage(event))
    return redirect(event, `${pathOf(target)}~${cookie}${rest}${queryOfPreview(event)}`);
  if (grant !== undefined && asksBefore(event)) return allowed(event);
  return show({ ports, settings }, event, { target, rest, principal: access.principal });
};

const show = async (
  { ports, settings }: Preview,
  event: ApiEvent,
  { target, rest, principal }: { target: PreviewTarget; rest: string; principal: Principal },
): Promise<StreamedResult> => {
  const startedAt = performance.now();
  const options = { id: target.sessionId, principal, intent: intentOf(previewRoute.needs) };
  const { session } = await findSession(ports.turns, options);
  requirePreviewPort(target.port);
  if (asksForUpgrade(event.headers)) requireUpgrade(event);
  const acquired = await acquireForRequest(ports, { session, settings });
  const { sandbox } = acquired;
  const port = await leasePreviewPort(ports, acquired, target.port);
  const path = `/ports/${port}${asSent(rest)}${queryOfPreview(event)}`;
  if (canUpgrade(event)) return tunnelTo(ports, sandbox, path);
  const body = bytesOf(event);
  const response = await ports.link.fetch(sandbox, {
    method: event.httpMethod,
    path,
    headers: forwarded(event),
    ...(body.length === 0 ? {} : { body }),
  });
  if (response.headers.has(refusalHeader)) throw await refusalOf(response, (code) => unheard(code, port));
  await refuseAstray(response, event);
  return {
    statusCode: response.status,
    headers: fenced(response, event, pathOf(target)),
    body: bodyOf(response, startedAt),
  };
};

/** A browser asks before a request that no form can send, since the page's origin is not its address's. */
const asksBefore = ({ httpMethod, headers }: ApiEvent): boolean =>
  httpMethod === 'OPTIONS' &&
  header(headers, 'origin') === 'null' &&
  header(headers, 'access-control-request-method') !== undefined;

const allowed = ({ headers }: ApiEvent): StreamedResult => ({
  statusCode: 204,
  headers: {
    ...fence,
    'access-control-allow-methods': header(headers, 'access-control-request-method') ?? '',
    'access-control-allow-headers': header(headers, 'access-control-request-headers') ?? '',
  },
  body: '',
});

/** This function waits for the sandbox before the link begins: it has less time left. */
const bodyOf = ({ body, headers }: Response, startedAt: number): StreamedResult['body'] => {
  if (body === null) return '';
  return isEventStream(headers.get('content-type'))
    ? (endInTime(body, { passedMs: performance.now() - startedAt }) as StreamedResult['body'])
    : body;
};

/** Only the gateway of one machine can ask so. */
const canUpgrade = ({ requestContext }: ApiEvent): boolean => requestContext.protocol === upgradeProtocol;

/** Refused where nothing carries it, before a sandbox is started for it. */
const requireUpgrade = (event: ApiEvent): void => {
  if (!canUpgrade(event))
    throw new AppError(
      'upgrade_required',
      'this deployment does not support WebSockets to ports of sandboxes',
      {
        suggestions: ['Use requests, or server-sent events; on one machine a WebSocket works.'],
      },
    );
  requireOwnOrigin(event);
};

/** A browser sends the cookie with a page's handshake whatever the page: its origin is the preview's, or opaque. */
const requireOwnOrigin = (event: ApiEvent): void => {
  const origin = header(event.headers, 'origin') ?? 'null';
  if (bearerToken(event.headers) !== undefined || origin === 'null' || origin === originOf(event)) return;
  throw new AppError('forbidden', 'a page of another origin may not connect to this preview');
};

const tunnelTo = (
  { sandboxBearer }: Deps<'sandboxBearer'>,
  { workspaceId, generation, address }: LiveSandbox,
  path: string,
): StreamedResult => ({
  statusCode: 200,
  headers: {
    [tunnelHeaders.address]: address,
    [tunnelHeaders.path]: path,
    [tunnelHeaders.bearer]: sandboxBearer(workspaceId, generation),
  },
  body: '',
});

/** The port tells this apart from a sandbox that does not answer: only its server is missing. */
const unheard = (code: ErrorCode, port: number): AppErrorDetails => ({
  suggestions: ['Start a server on this port in the sandbox, then ask again.'],
  recoveryActions: ['wait_and_retry'],
  ...(code === 'sandbox_unavailable' ? { facts: { port } } : {}),
});

const withCookie = (
  event: ApiEvent,
  { target, secret }: { readonly target: PreviewTarget; readonly secret: string },
): StreamedResult => {
  const path = pathOf(target);
  // A browser compares paths by case: the page's path must be that of its cookie.
  const spelt = `${path.slice(0, -1)}${readPreviewPath(event.path)?.page ?? ''}`;
  const place = spelt.endsWith(`/ports/${target.port}`) ? `${spelt}/` : spelt;
  const answer = redirect(event, place + withoutTicket(event));
  return {
    ...answer,
    headers: {
      ...answer.headers,
      'set-cookie': `${cookieName}=${secret}; ${cookieAttributes(event, path, previewSecondsMax)}`,
    },
  };
};

/** A client repeats a request that writes with its method and its body only after a 308. */
const redirect = ({ httpMethod }: ApiEvent, location: string): StreamedResult => ({
  statusCode: httpMethod === 'GET' || httpMethod === 'HEAD' ? 302 : 308,
  headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  body: '',
});
