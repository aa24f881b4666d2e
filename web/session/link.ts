/** The connection of the open session as a person is told of it. Pure. */
import type { ConnectionState } from '#sdk/connection.ts';

/** `offline` follows several tries; `stopped` is final until a person acts. */
export type Link =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'reconnecting'; readonly nextAt: number }
  | { readonly kind: 'offline'; readonly nextAt: number }
  | { readonly kind: 'stopped'; readonly code: string; readonly reason: string };

/** After so many failed tries in a row it is not a hiccup. */
const triesBeforeOffline = 2;

export const linkOf = (state: ConnectionState, isOnline: boolean): Link => {
  if (state.kind === 'ended') return { kind: 'stopped', code: state.error.code, reason: state.error.message };
  if (state.kind !== 'lost') return state;
  const isOffline = state.failures > triesBeforeOffline || !isOnline;
  return { kind: isOffline ? 'offline' : 'reconnecting', nextAt: state.nextAt };
};
