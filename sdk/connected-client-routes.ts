/**
 * Routes by which a person connects clients of `/mcp`, and ends clients and sign-ins; apart from the others, since few pages use
 * them. Types only are taken from the contracts.
 */
import type * as z from 'zod';
import type * as connections from '../shared/contracts/rest/connected-client-view.ts';
import { route } from './route.ts';

type Of<Schema extends z.ZodType> = { readonly answer: z.output<Schema> };

export type ConnectedClient = z.output<typeof connections.clientAnswer>;
export type BrowserSignIn = z.output<typeof connections.signInAnswer>;
export type ConsentRequest = z.input<typeof connections.consentQuery>;

export const connectedClientApi = {
  showConsent: route<{ readonly query: ConsentRequest } & Of<typeof connections.consentAnswer>>()(
    'GET',
    '/api/auth/consent',
  ),
  decide: route<
    { readonly body: z.input<typeof connections.consentBody> } & Of<typeof connections.consentedAnswer>
  >()('POST', '/api/auth/consent'),
  listClients: route<Of<typeof connections.clientsAnswer>>()('GET', '/api/auth/clients'),
  disconnectAll: route<{ answer: undefined }>()('DELETE', '/api/auth/clients'),
  disconnect: route<{ answer: undefined }>()('DELETE', '/api/auth/clients/{id}'),
  listSignIns: route<Of<typeof connections.signInsAnswer>>()('GET', '/api/auth/sign-ins'),
  endSignIn: route<{ answer: undefined }>()('DELETE', '/api/auth/sign-ins/{id}'),
};
