/**
 * The matrix of scopes over the routes: what the one table says of each, and what a server does, in the same words.
 *
 * Which routes there are and what each needs is read from the document that the server gives. HEAD is left out:
 * its answer has no body to tell by.
 */
import { errorAnswer } from '#shared/contracts/rest/error-view.ts';
import { mayUse, type Permission, rights, type ScopeKind } from '#shared/domain/access.ts';
import type { Scope } from '#shared/domain/principal.ts';
import type { EmbeddedCloud } from './embedded-cloud.ts';

export type Operation = {
  readonly method: string;
  readonly path: string;
  readonly 'x-needs': Permission;
  readonly 'x-resource'?: 'session' | 'project' | 'schedule' | 'webhook';
};

const letIn = 'allowed';

export const resources = ['own', 'other', 'none'] as const;
export type Resource = (typeof resources)[number];

export const documentedOperations = async ({
  ask,
}: Pick<EmbeddedCloud, 'ask'>): Promise<readonly Operation[]> => {
  type Paths = Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'method' | 'path'>>>>>;
  const { paths } = await ask<{ paths: Paths }>('/api/openapi.json');
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'head')
      .map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
};

/** The code of one that is not there; a webhook has none of its own. */
const unknownOf = (kind: NonNullable<Operation['x-resource']>): string =>
  kind === 'webhook' ? 'not_found' : `${kind}_not_found`;

/** `allowed`, or the status and the code of the refusal. */
export const verdictOfTable = (
  { 'x-needs': need, 'x-resource': kind }: Operation,
  scope: ScopeKind,
  resource: Resource,
): string => {
  if (kind === undefined) return mayUse({ scope: scope as Scope }, need) ? letIn : '403 forbidden';
  const reach = resource === 'none' ? 'none' : rights[scope][resource === 'own' ? 'own' : 'others'];
  if (reach === 'none') return `404 ${unknownOf(kind)}`;
  // To see a project is not to change it itself.
  if (need === 'global:write') return mayUse({ scope: scope as Scope }, need) ? letIn : '403 forbidden';
  return need === 'own:write' && reach === 'read' ? '403 forbidden' : letIn;
};

/** Values for what a path names besides its resource, none of which is anything. */
const nothing: Readonly<Record<string, string>> = { port: '8000', path: '..%2Fx' };

const bodyFor = ({ method, path }: Operation): RequestInit => {
  if (method === 'GET') return {};
  return { body: path.includes('/secrets/') ? '{"value":"x"}' : '{"port":80}' };
};

export type Answer = { readonly verdict: string; readonly text: string };

/** Asks for as little as a request can; the id of the request is left out of the text. No page is served on the port. */
export const askOperation = async (
  url: string,
  operation: Operation,
  { token, id }: { readonly token: string; readonly id: string },
): Promise<Answer> => {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === 'id' ? id : (nothing[name] ?? 'NONE'),
  );
  // Sign-outs are for pages of the deployment alone.
  const headers = { authorization: `Bearer ${token}`, origin: url };
  const init = { method: operation.method, headers, redirect: 'manual' as const, ...bodyFor(operation) };
  const response = await fetch(`${url}${path}`, init);
  const requestId = response.headers.get('x-request-id');
  if (response.headers.get('content-type') === 'text/event-stream') {
    // A stream has no end of its own.
    await response.body?.cancel();
    return { verdict: letIn, text: '' };
  }
  const whole = await response.text();
  const text = whole.replace(String(requestId), '<id>');
  if (response.status === 503 && operation.path.includes('/ports/{port}/')) return { verdict: letIn, text };
  if (requestId === null || response.status >= 500) return { verdict: `${response.status} ${whole}`, text };
  if (response.status < 400) return { verdict: letIn, text };
  return {
    verdict: verdictOf(operation, { status: response.status, body: JSON.parse(whole), requestId }),
    text,
  };
};

/** A refusal has exactly the body of its contract; a request that is only wrong was let in. */
const verdictOf = (
  { 'x-resource': kind }: Operation,
  {
    status,
    body,
    requestId,
  }: { readonly status: number; readonly body: unknown; readonly requestId: string },
): string => {
  const { error } = errorAnswer.parse(body);
  if (JSON.stringify({ error }) !== JSON.stringify(body) || error.requestId !== requestId)
    return `${status} with another body: ${JSON.stringify(body)}`;
  const isUnknown = /^(session|project|schedule)_not_found$/.test(error.code);
  const isRefused =
    [401, 403].includes(status) || isUnknown || (kind !== undefined && error.code === unknownOf(kind));
  return isRefused ? `${status} ${error.code}` : letIn;
};
