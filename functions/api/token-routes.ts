/** `/tokens`: created, listed, revoked. */
import {
  createToken,
  listTokens,
  revokeToken,
  type TokenPorts,
} from '#shared/application/access/manage-tokens.ts';
import { newTokenAnswer, tokenAnswer, tokensAnswer, tokenView } from '#shared/contracts/rest/access-view.ts';
import { createTokenBody, pageQuery } from '#shared/contracts/rest/bodies.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import { bodyOf, pathId, principalOf, queryOf } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';

export const tokenRoutes = ({ ports }: { readonly ports: TokenPorts }): readonly ApiRoute[] => [
  {
    method: 'POST',
    path: '/api/tokens',
    needs: 'admin',
    contract: {
      summary: 'Create a token; only this answer shows it',
      body: createTokenBody,
      answers: { 201: newTokenAnswer },
    },
    handler: async (event) => {
      const { record, token } = await createToken(ports, principalOf(event), bodyOf(event, createTokenBody));
      const { id, scope, name } = record;
      return json(201, { id, token, scope, name });
    },
  },
  {
    method: 'GET',
    path: '/api/tokens',
    needs: 'admin',
    contract: {
      summary: 'List the tokens, in masked form',
      query: pageQuery,
      answers: { 200: tokensAnswer },
    },
    handler: async (event) => {
      const { after } = queryOf(event, pageQuery);
      const page = { itemsMax: pageItemsMax, ...(after === undefined ? {} : { after }) };
      const { tokens, next } = await listTokens(ports, page);
      return json(200, { tokens: tokens.map(tokenView), ...(next === undefined ? {} : { next }) });
    },
  },
  {
    method: 'DELETE',
    path: '/api/tokens/{id}',
    needs: 'admin',
    contract: { summary: 'Revoke a token', answers: { 200: tokenAnswer }, errors: ['token_not_found'] },
    handler: async (event) =>
      json(200, tokenView(await revokeToken(ports, principalOf(event), pathId(event)))),
  },
];
