/** The messages between the program and the connector that shares dynoxide's network; a `connected` brings the socket. */
export type ToConnector = { readonly type: 'connect' } | { readonly type: 'stop' };

export type FromConnector = { readonly type: 'connected' } | { readonly type: 'failed' };
