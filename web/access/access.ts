/**
 * Sign-in state and permissions, one for the whole app.
 *
 * The server enforces permissions; this module only decides which actions are offered. A rejected token leads back to
 * the sign-in form with the reason. A link with another token changes nothing until the user confirms.
 */
import { computed, type ShallowRef, shallowRef } from 'vue';
import type * as z from 'zod';
import { SallyportError } from '#sdk/errors.ts';
import { api } from '#sdk/routes.ts';
import type { accessAnswer } from '#shared/contracts/rest/access-view.ts';
import { clientOf, request, useCredentials } from '../api/request.ts';
import {
  forgetUnsent,
  rememberedToken,
  rememberSession,
  rememberToken,
  takeTokenFromUrl,
} from './remembered.ts';

type Access = z.output<typeof accessAnswer>;
export type Permission = Access['may'][number];

export type SignIn =
  | { readonly kind: 'signed-out'; readonly reason: string | null }
  | { readonly kind: 'checking'; readonly problem: string | null }
  | { readonly kind: 'signed-in'; readonly access: Access };

const checkAgainMs = 2000;
const refusedReason = 'The server rejected this token. It may have expired or been revoked.';

/** A token from a link, opened in a tab that is signed in with another one. */
export type TokenOffer = { readonly current: string; readonly given: string };

const state = shallowRef<SignIn>({ kind: 'signed-out', reason: null });
const offer = shallowRef<TokenOffer>();
let token: string | null = null;

export const signIn: Readonly<ShallowRef<SignIn>> = state;
export const tokenOffer: Readonly<ShallowRef<TokenOffer | undefined>> = offer;
export const currentToken = (): string | null => token;

/** True when the token has this permission. */
export const may = (permission: Permission): boolean =>
  state.value.kind === 'signed-in' && state.value.access.may.includes(permission);

/** The project of a project token. */
export const ownProject = computed(() =>
  state.value.kind === 'signed-in' ? state.value.access.project : undefined,
);

/** The reason why an action is not offered, for a tooltip or a note. */
export const reasonAgainst = (permission: Permission): string | undefined => {
  if (may(permission) || state.value.kind !== 'signed-in') return undefined;
  return `Your token's scope (${state.value.access.scope}) does not allow this.`;
};

export const signInWith = async (given: string): Promise<void> => {
  token = given;
  rememberToken(given);
  state.value = { kind: 'checking', problem: null };
  await check(given);
};

export const signOut = (reason: string | null = null): void => {
  token = null;
  rememberToken(null);
  rememberSession(null);
  forgetUnsent();
  state.value = { kind: 'signed-out', reason };
};

/** Signs in with the remembered token of this tab; a token in the link is then only offered. */
export const startAccess = (): void => {
  useCredentials({ token: currentToken, onRefused: refused });
  const given = takeTokenFromUrl();
  const remembered = rememberedToken();
  if (remembered !== null) void signInWith(remembered);
  if (given !== null) takeLink(given);
};

/** Handles a link with a token: signs in a tab without a token, asks in a tab that has another. */
export const takeLink = (given: string): void => {
  if (token === null) void signInWith(given);
  else if (given !== token) offer.value = { current: token, given };
};

/** Reads the scope of a token with one request. */
export const scopeOfToken = async (which: string): Promise<string> =>
  (await clientOf(which).request(api.access)).scope;

export const settleOffer = (isSwitch: boolean): void => {
  const offered = offer.value;
  offer.value = undefined;
  if (!isSwitch || offered === undefined) return;
  signOut();
  void signInWith(offered.given);
};

const refused = (which: string): void => {
  if (which === token) signOut(refusedReason);
};

const check = async (which: string): Promise<void> => {
  try {
    const access = await request(api.access);
    if (which === token) state.value = { kind: 'signed-in', access };
  } catch (error) {
    if (which !== token) return;
    const problem = error instanceof SallyportError ? error.message : String(error);
    state.value = { kind: 'checking', problem };
    setTimeout(() => which === token && void check(which), checkAgainMs);
  }
};
