/** `/tokens`: made, listed, revoked. */
import { createToken, listTokens, revokeToken, type TokenPorts } from '#shared/application/manage-tokens.ts';
import { createTokenBody, pageQuery } from '#shared/contracts/rest.ts';
import { tokenView } from '#shared/contracts/token-view.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import { bodyOf, pathValue, principalOf, queryOf } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';

export const tokenRoutes = ({ ports }: { readonly ports: TokenPorts }): readonly ApiRoute[] => [
  {
    method: 'POST',
    path: '/api/tokens',
    handler: async (event) => {
      const { record, token } = await createToken(ports, principalOf(event), bodyOf(event, createTokenBody));
      const { id, scope, name } = record;
      return json(201, { id, token, scope, name });
    },
  },
  {
    method: 'GET',
    path: '/api/tokens',
    handler: async (event) => {
      const { after } = queryOf(event, pageQuery);
      const page = { itemsMax: pageItemsMax, ...(after === undefined ? {} : { after }) };
      const { tokens, next } = await listTokens(ports, principalOf(event), page);
      return json(200, { tokens: tokens.map(tokenView), ...(next === undefined ? {} : { next }) });
    },
  },
  {
    method: 'DELETE',
    path: '/api/tokens/{id}',
    handler: async (event) =>
      json(200, tokenView(await revokeToken(ports, principalOf(event), pathValue(event, 'id')))),
  },
];
