/** The connection, in words: `offline` is said after several tries, `stopped` is final until somebody acts. */
export type Link =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'reconnecting'; readonly nextAt: number }
  | { readonly kind: 'offline'; readonly nextAt: number }
  | { readonly kind: 'stopped'; readonly code: string; readonly reason: string };
