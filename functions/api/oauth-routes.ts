/**
 * `/oauth`: the authorization server for clients of `/mcp`, in the format of OAuth. Answered before the router, since a client
 * has no token yet.
 *
 * A browser that brings a request is sent to the app, which asks its person. A faulty request is refused here and never
 * redirected to a client's address, since anyone can register one (RFC 9700, 4.11.2; OA2). Pages of other origins can read none
 * of it.
 */
import * as z from 'zod';
import type { StreamedResult } from '#shared/adapters/lambda/lambda-runtime.ts';
import { revokeByClient } from '#shared/application/access/connected-clients.ts';
import { checkRequest, isResource } from '#shared/application/access/consent.ts';
import { recordRefusal } from '#shared/application/access/record-refusal.ts';
import { registerClient } from '#shared/application/access/register-client.ts';
import type { AuditDeps, Deps } from '#shared/application/deps.ts';
import { withoutNulls } from '#shared/contracts/absent-fields.ts';
import { header } from '#shared/contracts/credentials.ts';
import { decode, decodeJson } from '#shared/contracts/decode.ts';
import { authorizationFields, formBytesMax, oauthPath, registrationBody } from '#shared/contracts/oauth.ts';
import { consentQueryOf } from '#shared/contracts/rest/connected-client-view.ts';
import { errorStatus, isAppError } from '#shared/errors.ts';
import { type ApiEvent, json } from './api-route.ts';
import { bytesOf } from './request-body.ts';
import { requiredOrigin } from './request-credentials.ts';
import { addressOf, throttleAddress } from './throttle-address.ts';

export type OAuth = {
  readonly ports: AuditDeps & Deps<'clients' | 'grants' | 'protocol' | 'tokens' | 'rateLimiter'>;
  readonly publicUrl: string | undefined;
  /** False where an OIDC issuer gives tokens. */
  readonly isOn: boolean;
};

export const isOAuth = ({ path }: ApiEvent): boolean => path.startsWith(`${oauthPath}/`);

export const answerOAuth = async (oauth: OAuth, event: ApiEvent): Promise<StreamedResult> => {
  try {
    await throttleAddress(oauth.ports, event);
    return await answer(oauth, event);
  } catch (error) {
    if (!isAppError(error)) throw error;
    recordRefusal(oauth.ports.telemetry, error, { resource: event.resource, method: event.httpMethod });
    const name = error.code === 'rate_limited' ? 'temporarily_unavailable' : 'invalid_request';
    const refused = refuse(name, error.message, errorStatus(error));
    return error.code === 'rate_limited'
      ? {
          ...refused,
          headers: {
            ...refused.headers,
            'retry-after': String(error.details.facts?.['retryAfterSeconds'] ?? 1),
          },
        }
      : refused;
  }
};

const answer = async (oauth: OAuth, event: ApiEvent): Promise<StreamedResult> => {
  const route = oauth.isOn ? `${event.httpMethod} ${event.path.slice(oauthPath.length)}` : '';
  switch (route) {
    case 'GET /authorize':
      return authorize(oauth, event);
    case 'POST /register':
      return register(oauth, event);
    case 'POST /token':
      return token(oauth, event);
    case 'POST /revoke':
      return revoke(oauth, event);
    default:
      return refuse('invalid_request', 'there is nothing at this path', notFound);
  }
};

const badRequest = 400;
const notFound = 404;

const refuse = (error: string, description: string, status = badRequest): StreamedResult =>
  json(status, { error, error_description: description });

const authorize = async ({ ports, publicUrl }: OAuth, event: ApiEvent): Promise<StreamedResult> => {
  const given = single(Object.entries(event.multiValueQueryStringParameters ?? {}));
  if (given === undefined) return repeated;
  const fields = decode(authorizationFields, given);
  if (!fields.ok) return refuse('invalid_request', fields.problem);
  const checked = await checkRequest(ports, fields.value, resourceOf(event, publicUrl));
  if (checked.kind === 'refused') return refuse(checked.error, checked.problem);
  const query = Object.entries(consentQueryOf(fields.value)).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  return {
    statusCode: 302,
    headers: {
      location: `/#/connect?${new URLSearchParams(query)}`,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    },
    body: '',
  };
};

const register = async ({ ports }: OAuth, event: ApiEvent): Promise<StreamedResult> => {
  if (!isOf(event, 'application/json'))
    return refuse('invalid_client_metadata', 'the body must be application/json');
  const sent = decodeJson(z.unknown(), textOf(event));
  const body = sent.ok ? decode(registrationBody, withoutNulls(registrationBody, sent.value)) : sent;
  if (!body.ok) {
    const isAddress = body.problem.startsWith('redirect_uris');
    return refuse(isAddress ? 'invalid_redirect_uri' : 'invalid_client_metadata', body.problem);
  }
  const { client_name: name, redirect_uris: redirectUris } = body.value;
  const client = await registerClient(ports, { name, redirectUris, address: addressOf(event) });
  return json(created, {
    client_id: client.id,
    client_id_issued_at: Math.floor(client.createdAt / 1000),
    client_name: client.name,
    redirect_uris: client.redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  });
};

const created = 201;

const token = async ({ ports, publicUrl }: OAuth, event: ApiEvent): Promise<StreamedResult> => {
  const form = formOf(event);
  if ('statusCode' in form) return form;
  const { resource, ...fields } = form.fields;
  const own = resourceOf(event, publicUrl);
  if (!isResource(resource, own)) return refuse('invalid_target', `resource: must be ${own}`);
  const { status, body } = await ports.protocol.token(fields);
  const isOfHeader =
    body['error'] === 'invalid_client' && header(event.headers, 'authorization') !== undefined;
  return isOfHeader ? unauthorized(body) : json(status, body);
};

/** A client that tried to authenticate by the header is told so in the same way (RFC 6749, 5.2). */
const unauthorized = (body: object): StreamedResult => {
  const answer = json(401, body);
  return { ...answer, headers: { ...answer.headers, 'www-authenticate': 'Basic realm="oauth"' } };
};

/** Always 200 (RFC 7009, 2.2): the caller learns nothing of a token. */
const revoke = async ({ ports }: OAuth, event: ApiEvent): Promise<StreamedResult> => {
  const form = formOf(event);
  if ('statusCode' in form) return form;
  const { token: text, client_id: clientId } = form.fields;
  if (text === undefined || clientId === undefined)
    return refuse('invalid_request', 'token and client_id are required');
  await revokeByClient(ports, { text, clientId });
  return json(200, {});
};

const resourceOf = (event: ApiEvent, publicUrl: string | undefined): string =>
  `${requiredOrigin(event, publicUrl)}/mcp`;

const isOf = ({ headers }: ApiEvent, type: string): boolean =>
  header(headers, 'content-type')?.split(';')[0]?.trim().toLowerCase() === type;

const textOf = (event: ApiEvent): string => {
  const bytes = bytesOf(event);
  return bytes.length > formBytesMax ? '' : Buffer.from(bytes).toString();
};

const repeated = refuse('invalid_request', 'a parameter is given more than once');

const formOf = (event: ApiEvent): StreamedResult | { readonly fields: Readonly<Record<string, string>> } => {
  if (!isOf(event, 'application/x-www-form-urlencoded'))
    return refuse('invalid_request', 'the body must be application/x-www-form-urlencoded');
  const names = Map.groupBy(new URLSearchParams(textOf(event)), ([name]) => name);
  const fields = single([...names].map(([name, pairs]) => [name, pairs.map(([, value]) => value)]));
  return fields === undefined ? repeated : { fields };
};

/** Undefined when a parameter comes twice (RFC 6749, 3.1); one without a value counts as absent. */
const single = (
  entries: readonly (readonly [string, readonly string[] | undefined])[],
): Readonly<Record<string, string>> | undefined => {
  if (entries.some(([, values]) => (values?.length ?? 0) > 1)) return undefined;
  return Object.fromEntries(
    entries.flatMap(([name, values]): [string, string][] => (values?.[0] ? [[name, values[0]]] : [])),
  );
};
