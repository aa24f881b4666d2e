/** `/projects` and `/stats`: what an owner has, and what of it is in use. */
import { createProject, getProject, listProjects } from '#shared/application/manage-projects.ts';
import { resourceStats, type StatsPorts, type StatsSettings } from '#shared/application/resource-stats.ts';
import { projectView } from '#shared/contracts/project-view.ts';
import { createProjectBody, pageQuery } from '#shared/contracts/rest.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import type { ProjectStore } from '#shared/ports/project-store.ts';
import type { World } from '#shared/ports/world.ts';
import { bodyOf, pathValue, principalOf, queryOf } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';

export type ProjectPorts = StatsPorts & { readonly projects: ProjectStore; readonly world: World };

export const projectRoutes = ({
  ports,
  stats,
}: {
  readonly ports: ProjectPorts;
  readonly stats: StatsSettings;
}): readonly ApiRoute[] => [
  {
    method: 'POST',
    path: '/api/projects',
    handler: async (event) =>
      json(
        201,
        projectView(await createProject(ports, principalOf(event), bodyOf(event, createProjectBody))),
      ),
  },
  {
    method: 'GET',
    path: '/api/projects',
    handler: async (event) => {
      const { after } = queryOf(event, pageQuery);
      const page = { itemsMax: pageItemsMax, ...(after === undefined ? {} : { after }) };
      const { projects, next } = await listProjects(ports.projects, principalOf(event), page);
      return json(200, { projects: projects.map(projectView), ...(next === undefined ? {} : { next }) });
    },
  },
  {
    method: 'GET',
    path: '/api/projects/{id}',
    handler: async (event) =>
      json(200, projectView(await getProject(ports.projects, principalOf(event), pathValue(event, 'id')))),
  },
  {
    method: 'GET',
    path: '/api/stats',
    handler: async (event) => json(200, await resourceStats(ports, principalOf(event), stats)),
  },
];
