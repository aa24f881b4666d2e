/** `/openapi.json`: the contract of this API, as `npm run openapi` wrote it beside this file. */
import { openApiAnswer } from '#shared/contracts/rest/deployment-view.ts';
import { type ApiRoute, json } from './api-route.ts';

export const openApiRoute: ApiRoute = {
  method: 'GET',
  path: '/api/openapi.json',
  needs: 'any',
  contract: { summary: 'Read this document', answers: { 200: openApiAnswer } },
  handler: async () => {
    // Parsed only when it is requested.
    const { default: document } = await import('./openapi.json', { with: { type: 'json' } });
    return json(200, document);
  },
};
