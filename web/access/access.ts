/**
 * Sign-in state and permissions, one for the whole app.
 *
 * A tab has a token of its own, or the cookie of the browser's sign-in, which no script sees. The server enforces
 * permissions; this module only decides which actions are offered. A rejected credential leads back to the sign-in form
 * with the reason. A link with another token changes nothing until the user confirms.
 *
 * Texts that were not sent or saved belong to the token or the person who wrote them. A sign-out deletes them. A sign-in that
 * ended by itself leaves them in this tab, where the next one deletes them unless it is the same.
 */
import { computed, type ShallowRef, shallowRef } from 'vue';
import type * as z from 'zod';
import { SallyportError } from '#sdk/errors.ts';
import { api } from '#sdk/routes.ts';
import type { accessAnswer } from '#shared/contracts/rest/access-view.ts';
import type { authAnswer } from '#shared/contracts/rest/auth-view.ts';
import { defaultProject } from '#shared/domain/principal.ts';
import { clientOf, request, useCredentials } from '../api/request.ts';
import {
  forgetTexts,
  hasTexts,
  rememberedOwner,
  rememberedToken,
  rememberOwner,
  rememberSession,
  rememberToken,
  takeTokenFromUrl,
} from './remembered.ts';
import { endToken, sayCookie, shareToken, tokenOfAnotherTab } from './shared-token.ts';

type Access = z.output<typeof accessAnswer>;
export type Permission = Access['may'][number];

export type SignIn =
  | { readonly kind: 'signed-out'; readonly reason: string | null }
  | { readonly kind: 'checking'; readonly problem: string | null }
  | { readonly kind: 'signed-in'; readonly access: Access };

const checkAgainMs = 2000;
const refusedReason = 'The server rejected this token. It may have expired or been revoked.';
const noTokenReason = 'This is not a token: it contains spaces or invalid characters.';
const elsewhereReason = 'You signed out in another tab.';
const otherReason = 'Somebody else has signed in with this browser.';
const endedReason = 'Your sign-in has ended.';

/** A token; null: the cookie of this browser. */
type Credential = string | null;

/** A token from a link, opened in a tab that is signed in with something else. */
export type TokenOffer = { readonly current: Credential; readonly given: string };

const state = shallowRef<SignIn>({ kind: 'signed-out', reason: null });
const offer = shallowRef<TokenOffer>();
const provider = shallowRef(false);
/** Undefined: no person is signed in. */
let credential: Credential | undefined;
/** The one that ended by itself: a sign-out in another tab is still about its texts. */
let ended: Credential | undefined;
let isCookieKnown = false;
/** False once a person chose to give a token: then nothing signs in by itself. */
let isLooking = false;
/** Also where the browser forbids storage: the pages have the texts in memory. */
let textOwner = rememberedOwner();
const textsEnded = shallowRef(0);
/** The token of a link, until it is known whether the browser is signed in. */
let held: string | null = null;

export const signIn: Readonly<ShallowRef<SignIn>> = state;
export const tokenOffer: Readonly<ShallowRef<TokenOffer | undefined>> = offer;
/** Grows when the texts of a person are deleted, before anyone else is signed in. */
export const textEnds: Readonly<ShallowRef<number>> = textsEnded;
/** False after a sign-out: what is written then has no owner. */
export const keepsTexts = (): boolean => textOwner !== null;
/** True when people can sign in with the identity provider. */
export const hasProvider: Readonly<ShallowRef<boolean>> = provider;
/** True for a tab that uses the cookie. */
export const usesCookie = (): boolean => credential === null;

/** True when the token has this permission. */
export const may = (permission: Permission): boolean =>
  state.value.kind === 'signed-in' && state.value.access.may.includes(permission);

/** The project of a project token. */
export const ownProject = computed(() =>
  state.value.kind === 'signed-in' ? state.value.access.project : undefined,
);

/** The project that a form begins with, and the one of a request that names none: the token's own, otherwise the default one. */
export const unnamedProject = computed((): string => ownProject.value ?? defaultProject);

/** The reason why an action is not offered, for a tooltip or a note. */
export const reasonAgainst = (permission: Permission): string | undefined => {
  if (may(permission) || state.value.kind !== 'signed-in') return undefined;
  return `Your token's scope (${state.value.access.scope}) does not allow this: an admin can give you one that does.`;
};

/** Other texts are no value of a header. */
const isCredential = (given: Credential): boolean => given === null || /^[\x21-\x7e]+$/.test(given);

export const signInWith = async (given: Credential): Promise<void> => {
  if (!isCredential(given)) return end(noTokenReason);
  credential = given;
  rememberToken(given);
  state.value = { kind: 'checking', problem: null };
  return check(given);
};

/** Ends the use of this token in all tabs; the cookie is the server's to end (provider-account.vue). */
export const signOut = (): void => {
  if (credential) endToken(credential);
  isLooking = false;
  held = null;
  forget(null);
};

/** Of this tab, with its texts. */
const forget = (reason: string | null): void => {
  endTexts();
  end(reason);
};

const endTexts = (): void => {
  textOwner = null;
  forgetTexts();
  textsEnded.value += 1;
};

const takeTexts = (id: string): void => {
  if (textOwner !== null && textOwner !== id) endTexts();
  textOwner = id;
  rememberOwner(id);
};

const end = (reason: string | null): void => {
  // A tab of an earlier version has no owner for them.
  if (textOwner === null && hasTexts()) endTexts();
  if (credential !== undefined) ended = credential;
  credential = undefined;
  rememberToken(null);
  rememberSession(null);
  state.value = { kind: 'signed-out', reason };
};

/**
 * Signs in with the remembered token of this tab, else with the cookie, else with the token of another tab; a token in the
 * link is offered where a credential is known.
 */
export const startAccess = (): void => {
  useCredentials({ token: () => credential ?? null, onRefused: refused });
  isLooking = true;
  const given = takeTokenFromUrl();
  const remembered = rememberedToken();
  if (remembered !== null) void signInWith(remembered);
  else state.value = { kind: 'checking', problem: null };
  if (given !== null) takeLink(given);
  shareToken({
    tokenOf: () => credential ?? null,
    onEnd: (token) => token === (credential === undefined ? ended : credential) && forget(elsewhereReason),
    onCookie: (id) => usesCookie() && textOwner !== null && textOwner !== id && forget(otherReason),
  });
  void lookForCookie(remembered === null && given === null ? tokenOfAnotherTab() : undefined);
};

const lookForCookie = async (shared: Promise<string | null> | undefined): Promise<void> => {
  const auth = await readAuth();
  isCookieKnown = true;
  provider.value = auth.login;
  const mayTake = (): boolean => isLooking && credential === undefined;
  if (mayTake() && auth.signedIn) void signInWith(null);
  if (held !== null) takeLink(held);
  const token = mayTake() ? await shared : undefined;
  if (token && mayTake()) void signInWith(token);
  if (isUnsigned()) state.value = { kind: 'signed-out', reason: null };
};

/** Without a credential, and not yet at the form, which may show a reason. */
const isUnsigned = (): boolean => credential === undefined && state.value.kind === 'checking';

/** Asks until the server answers: without the answer the form would lack the way to the identity provider. */
const readAuth = async (): Promise<z.output<typeof authAnswer>> => {
  try {
    return await request(api.showAuth);
  } catch (error) {
    if (isUnsigned()) state.value = { kind: 'checking', problem: problemOf(error) };
    await new Promise((resolve) => setTimeout(resolve, checkAgainMs));
    return readAuth();
  }
};

/** Handles a link with a token: signs in a tab without a credential, asks in a tab that has another. */
export const takeLink = (given: string): void => {
  if (credential !== undefined) {
    if (given !== credential) offer.value = { current: credential, given };
  } else if (isCookieKnown) void signInWith(given);
  else held = given;
};

/** Reads the scope of a credential with one request. */
export const scopeOfToken = async (which: Credential): Promise<string> =>
  (await clientOf(which).request(api.access)).scope;

export const settleOffer = (isSwitch: boolean): void => {
  const offered = offer.value;
  offer.value = undefined;
  if (!isSwitch || offered === undefined) return;
  forget(null);
  void signInWith(offered.given);
};

const refused = (which: Credential): void => {
  if (which === credential) end(which === null ? endedReason : refusedReason);
};

const check = async (which: Credential): Promise<void> => {
  try {
    const access = await request(api.access);
    if (which !== credential) return;
    takeTexts(access.id);
    if (which === null) sayCookie(access.id);
    state.value = { kind: 'signed-in', access };
  } catch (error) {
    if (which !== credential) return;
    state.value = { kind: 'checking', problem: problemOf(error) };
    setTimeout(() => which === credential && void check(which), checkAgainMs);
  }
};

const problemOf = (error: unknown): string =>
  error instanceof SallyportError ? error.message : String(error);
