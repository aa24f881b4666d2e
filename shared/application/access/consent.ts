/**
 * Consent: the check of a client's request, what the person can give, and the code that their consent makes.
 *
 * A request is checked when the browser arrives and again with the decision, since it comes through the browser both times.
 * Refuses a client that is not registered, an address that is not the client's, another resource than `/mcp`, and more than the
 * person has.
 */
import type { AuthorizationFields } from '../../contracts/oauth.ts';
import { isRegistered } from '../../contracts/redirect-uri.ts';
import { projectOf } from '../../domain/access.ts';
import { decodeWishes, mayGive, type Offer, offerOf } from '../../domain/oauth/client-scope.ts';
import { type Consent, grantsPerHolderMax, holderOf, type OAuthClient } from '../../domain/oauth/grant.ts';
import { type Principal, recordedAs, type Scope } from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';
import { unauthenticated } from './authenticate.ts';
import { projectNotFound } from './find-project.ts';

export type OAuthError =
  | 'invalid_client'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'unsupported_response_type';

type Wishes = Extract<ReturnType<typeof decodeWishes>, { kind: 'wishes' }>['wishes'];

export type CheckedRequest =
  | { readonly kind: 'good'; readonly client: OAuthClient; readonly wishes: Wishes }
  | { readonly kind: 'refused'; readonly error: OAuthError; readonly problem: string };

const refused = (error: OAuthError, problem: string): CheckedRequest => ({ kind: 'refused', error, problem });

/** `resource`: the address of the one resource here. */
export const checkRequest = async (
  { clients, world }: Deps<'clients' | 'world'>,
  fields: AuthorizationFields,
  resource: string,
): Promise<CheckedRequest> => {
  const client = await clients.get(fields.client_id);
  if (client === undefined || client.expiresAt <= world.now())
    return refused('invalid_client', 'there is no such client: it has to register, or to register again');
  if (!isRegistered(fields.redirect_uri, client.redirectUris))
    return refused('invalid_request', 'redirect_uri: the client did not register this address');
  if (fields.response_type !== 'code')
    return refused('unsupported_response_type', 'response_type: must be code');
  if (!isResource(fields.resource, resource))
    return refused('invalid_target', `resource: must be ${resource}`);
  const wished = decodeWishes(fields.scope);
  if (wished.kind === 'refused') return refused('invalid_scope', `scope: ${wished.problem}`);
  return { kind: 'good', client, wishes: wished.wishes };
};

/** Clients of the first revisions name none. */
export const isResource = (given: string | undefined, resource: string): boolean =>
  given === undefined || given.replace(/\/$/, '') === resource;

type Good = Extract<CheckedRequest, { kind: 'good' }>;

const good = (checked: CheckedRequest): Good => {
  if (checked.kind === 'good') return checked;
  throw new AppError('invalid_request', checked.problem, {
    suggestions: ['Connect again from the client.'],
  });
};

type Asked = { readonly fields: AuthorizationFields; readonly resource: string };
/** `issuer`: our own origin, by which the client knows who answers (RFC 9207). */
type Decided = Asked & { readonly issuer: string };

/** The client that asks, and the access that this person can give it. */
export const showConsent = async (
  ports: Deps<'clients' | 'world'>,
  principal: Principal,
  { fields, resource }: Asked,
): Promise<{ readonly client: OAuthClient; readonly offer: Offer }> => {
  const { client, wishes } = good(await checkRequest(ports, fields, resource));
  const offer = offerOf(principal.scope, wishes);
  if (offer !== undefined) return { client, offer };
  throw new AppError('forbidden', `${client.name} asks for more than your scope (${principal.scope}) allows`);
};

type ConsentDeps = Deps<
  'clients' | 'grants' | 'protocol' | 'projects' | 'tokens' | 'world' | 'adminTokenHash'
>;

/** The address to which the browser goes with the code; `scope` is what the person gives. */
export const giveConsent = async (
  ports: ConsentDeps,
  principal: Principal,
  { fields, resource, issuer, scope }: Decided & { readonly scope: Scope },
): Promise<string> => {
  const { client, wishes } = good(await checkRequest(ports, fields, resource));
  if (!mayGive(principal.scope, wishes, scope))
    throw new AppError('forbidden', `scope: more than ${client.name} asked for, or than you have`);
  const project = projectOf(scope);
  if (project === undefined || (await ports.projects.get(project)) === undefined) throw projectNotFound();
  const holder = holderOf(principal);
  if ((await ports.grants.ofHolder(holder)).length >= grantsPerHolderMax)
    throw new AppError(
      'resource_limit_exceeded',
      `at most ${grantsPerHolderMax} clients are connected at once`,
      {
        suggestions: ['Disconnect one that is no longer used.'],
      },
    );
  const consent = await consentOf(ports, principal, { holder, scope });
  const { code_challenge: challenge, scope: _, resource: __, ...asked } = fields;
  const given = { ...withoutAbsent(asked), code_challenge: challenge };
  const credential = recordedAs(principal, ports.adminTokenHash);
  const ends = credential === undefined ? {} : { credential };
  const authorized = await ports.protocol.authorize(given, { consent, challenge, ...ends });
  if (authorized.kind === 'refused') throw new AppError('invalid_request', authorized.problem);
  return answerAt(fields, issuer, { code: authorized.code });
};

/** The address to which the browser goes with a refusal, once a person gave it. */
export const refuseConsent = async (
  ports: Deps<'clients' | 'world'>,
  { fields, resource, issuer }: Decided,
): Promise<string> => {
  good(await checkRequest(ports, fields, resource));
  return answerAt(fields, issuer, { error: 'access_denied' });
};

const answerAt = (
  { redirect_uri, state }: AuthorizationFields,
  issuer: string,
  answer: Readonly<Record<string, string>>,
): string => {
  const url = new URL(redirect_uri);
  const parameters = { ...answer, iss: issuer, ...(state === undefined ? {} : { state }) };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
};

const withoutAbsent = (fields: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    ),
  );

/** A grant ends with the credential with which the person consented: a token of ours is read once more for its end. */
const consentOf = async (
  { tokens, adminTokenHash }: Pick<ConsentDeps, 'tokens' | 'adminTokenHash'>,
  principal: Principal,
  given: Pick<Consent, 'holder' | 'scope'>,
): Promise<Consent> => {
  const { isPerson, tokenHash, name, expiresAt } = principal;
  const by = name === undefined ? {} : { by: name };
  if (isPerson)
    return { ...given, ...by, person: tokenHash, ...(expiresAt === undefined ? {} : { until: expiresAt }) };
  const record = recordedAs(principal, adminTokenHash);
  const token = record === undefined ? undefined : await tokens.get(record);
  if (record !== undefined && token === undefined) throw unauthenticated();
  const until = token?.expiresAt === undefined ? {} : { until: token.expiresAt };
  return { ...given, ...by, token: tokenHash, ...until };
};
