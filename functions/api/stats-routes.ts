/** `/stats`: the resources in use beside their limits, and the usage metrics of the recent past. */

import type { Deps } from '#shared/application/deps.ts';
import { readUsageMetrics } from '#shared/application/metrics/read-usage-metrics.ts';
import { agentSlotsInUse, countedProjects } from '#shared/application/project/agent-slots.ts';
import { resourceStats, type StatsSettings } from '#shared/application/sandbox/resource-stats.ts';
import {
  statsAnswer,
  statsHistoryAnswer,
  statsHistoryQuery,
  usageMetricsView,
} from '#shared/contracts/rest/deployment-view.ts';
import { type ApiRoute, json, principalOf, queryOf } from './api-route.ts';

export const statsRoutes = ({
  ports,
  stats,
}: {
  readonly ports: Deps<'projects' | 'slots' | 'slotLimits' | 'workspaces' | 'metrics' | 'world'>;
  readonly stats: StatsSettings;
}): readonly ApiRoute[] => [
  {
    method: 'GET',
    path: '/api/stats',
    needs: 'own:read',
    contract: { summary: 'Show current use and limits', answers: { 200: statsAnswer } },
    handler: async (event) => {
      const principal = principalOf(event);
      const projects = await countedProjects(ports, principal);
      const [resources, agents] = await Promise.all([
        resourceStats(ports, { principal, projects }, stats),
        agentSlotsInUse(ports, projects),
      ]);
      return json(200, { ...resources, agentSlots: agents });
    },
  },
  {
    method: 'GET',
    path: '/api/stats/history',
    needs: 'own:read',
    contract: {
      summary: 'Show usage over time',
      query: statsHistoryQuery,
      answers: { 200: statsHistoryAnswer },
    },
    handler: async (event) => {
      const { minutes } = queryOf(event, statsHistoryQuery);
      return json(200, usageMetricsView(await readUsageMetrics(ports, principalOf(event), minutes)));
    },
  },
];
