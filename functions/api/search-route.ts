/** `/search`: sessions found by words of their titles and messages. */
import type { Deps } from '#shared/application/deps.ts';
import { searchSessions } from '#shared/application/session/search-sessions.ts';
import { foundView, searchAnswer, searchQuery } from '#shared/contracts/rest/search-view.ts';
import { searchedSessionsMax } from '#shared/domain/search.ts';
import { type ApiRoute, json, principalOf, queryOf } from './api-route.ts';

export const searchRoute = ({
  ports,
}: {
  readonly ports: Deps<'sessions' | 'projects' | 'turns'>;
}): ApiRoute => ({
  method: 'GET',
  path: '/api/search',
  needs: 'own:read',
  contract: {
    summary: 'Find sessions by words of their titles and messages',
    query: searchQuery,
    answers: { 200: searchAnswer },
    errors: ['project_not_found'],
  },
  handler: async (event) => {
    const search = { ...queryOf(event, searchQuery), principal: principalOf(event) };
    const { found, ...rest } = await searchSessions(ports, { ...search, sessionsMax: searchedSessionsMax });
    return json(200, { found: found.map(foundView), ...rest });
  },
});
