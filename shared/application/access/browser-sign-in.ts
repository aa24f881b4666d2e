/**
 * Sign-in of a person with a browser: begun at the issuer's page, finished by its answer, ended by a sign-out.
 *
 * The browser has an opaque secret; the table has its hash, with the person and the scope that the issuer named. A sign-out
 * deletes it, and closes the sockets that it opened. A sign-in is no bearer: no endpoint takes its secret as a token.
 */
import { decidePerson, personKey } from '../../domain/person.ts';
import { type AccessToken, isExpired, type Principal } from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';
import type { SignInSecrets } from '../../ports/access.ts';
import type { AuditDeps, Deps } from '../deps.ts';
import { audit } from './audit.ts';
import { unauthenticated } from './authenticate.ts';
import { type CloseDeps, closeSocketsOfCredential, settleAll } from './close-sockets-of-credential.ts';
import { disconnectAll } from './connected-clients.ts';

export type LoginDeps = AuditDeps &
  CloseDeps &
  Deps<'login' | 'signIn' | 'signIns' | 'signInMs' | 'tokens' | 'grants' | 'connections' | 'sockets'>;

/** Kept apart from the hashes of tokens: the secret of a cookie is not a token. */
const hashOf = ({ world }: Deps<'world'>, secret: string): string => world.sha256(`cookie\n${secret}`);

export const beginSignIn = (
  { login }: Pick<LoginDeps, 'login'>,
  redirectUri: string,
): Promise<{ readonly url: string; readonly secrets: SignInSecrets }> => {
  if (login === undefined) throw withoutIssuer();
  return login.begin(redirectUri);
};

type Answer = {
  readonly callbackUrl: string;
  readonly secrets: SignInSecrets;
  /** The secret of a sign-in that this browser has already: it ends. */
  readonly former: string | undefined;
};

export const finishSignIn = async (
  ports: LoginDeps,
  { callbackUrl, secrets, former }: Answer,
): Promise<{ readonly secret: string }> => {
  const { login, signIn, signIns, signInMs, world } = ports;
  if (login === undefined || signIn === undefined) throw withoutIssuer();
  const identity = await login.finish({ callbackUrl, secrets });
  if (identity === undefined) throw notSignedIn();
  const person = world.sha256(personKey(identity));
  const at = world.now();
  const expiresAt = at + signInMs;
  const decision = decidePerson({ ...identity, expiresAt }, person, signIn.rules);
  if (decision.kind !== 'person') throw new AppError('forbidden', decision.problem);
  const secret = `${world.uuid()}${world.uuid()}`.replaceAll('-', '');
  const { scope, name = '' } = decision.principal;
  const hash = hashOf(ports, secret);
  await signIns.put({ id: world.uuid(), hash, name, scope, masked: '', createdAt: at, expiresAt, person });
  if (former !== undefined) await endSignIn(ports, hashOf(ports, former));
  await audit(ports, decision.principal, { action: 'person.sign_in', subject: person, detail: { scope } });
  return { secret };
};

/** The person of a cookie; undefined for one that is signed out. */
export const personOfCookie = async (
  ports: Deps<'tokens' | 'world'>,
  secret: string,
): Promise<Principal | undefined> => {
  const hash = hashOf(ports, secret);
  const known = await ports.tokens.get(hash);
  if (known?.person === undefined || isExpired(known, ports.world.now())) return undefined;
  const { person, scope, name, expiresAt } = known;
  return {
    owner: `person-${person}` as Principal['owner'],
    scope,
    tokenHash: person,
    isPerson: true,
    signIn: hash,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(name === '' ? {} : { name }),
  };
};

/**
 * Ends this sign-in, or all of its person and the clients they connected. Its own is the last: while the rest has not ended, a
 * repeat finds the person. Without one, only sockets can be left.
 */
export const signOut = async (
  ports: LoginDeps,
  { secret, isEverywhere }: { readonly secret: string | undefined; readonly isEverywhere: boolean },
): Promise<void> => {
  if (secret === undefined) return;
  const own = hashOf(ports, secret);
  const principal = await personOfCookie(ports, secret);
  if (principal === undefined) return closeSocketsOfCredential(ports, own);
  const { tokenHash: person } = principal;
  const found = isEverywhere ? await ports.signIns.ofPerson(person) : [];
  const others = found.map(({ hash }) => hash).filter((hash) => hash !== own);
  const clients = isEverywhere ? await disconnectAll(ports, principal) : 0;
  await settleAll(others.map((hash) => endSignIn(ports, hash)));
  const detail = { everywhere: isEverywhere, signIns: others.length + 1, clients };
  await audit(ports, principal, { action: 'person.sign_out', subject: person, detail });
  await endSignIn(ports, own);
};

/** The browsers in which a person is signed in; a token has none. */
export const listSignIns = async (
  { signIns, world }: Deps<'signIns' | 'world'>,
  { isPerson, tokenHash: person }: Principal,
): Promise<readonly AccessToken[]> =>
  isPerson ? (await signIns.ofPerson(person)).filter((one) => !isExpired(one, world.now())) : [];

export const endOneSignIn = async (ports: LoginDeps, principal: Principal, id: string): Promise<void> => {
  const found = (await listSignIns(ports, principal)).find((one) => one.id === id);
  if (found === undefined) throw new AppError('not_found', 'there is no such sign-in');
  await endSignIn(ports, found.hash);
  const detail = { everywhere: false, signIns: 1 };
  await audit(ports, principal, { action: 'person.sign_out', subject: principal.tokenHash, detail });
};

const endSignIn = async (ports: LoginDeps, hash: string): Promise<void> => {
  await ports.signIns.remove(hash);
  await closeSocketsOfCredential(ports, hash);
};

const withoutIssuer = (): AppError =>
  new AppError('not_found', 'people cannot sign in here with a browser: the deployment has no OIDC client', {
    suggestions: ['Use an access token.', 'Operators: set OIDC_ISSUER and OIDC_CLIENT_ID.'],
  });

const notSignedIn = (): AppError => {
  const { code, details } = unauthenticated();
  const suggestions = ['Sign in again: GET /api/auth/login.'];
  return new AppError(code, 'the identity provider did not confirm this sign-in', {
    ...details,
    suggestions,
  });
};
