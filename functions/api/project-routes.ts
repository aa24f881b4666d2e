/** `/projects` and `/stats`: what an owner has, and what of it is in use. */
import { createProject, listProjects, type ProjectPorts } from '#shared/application/manage-projects.ts';
import { resourceStats, type StatsPorts, type StatsSettings } from '#shared/application/resource-stats.ts';
import { statsAnswer } from '#shared/contracts/deployment-view.ts';
import { projectAnswer, projectsAnswer, projectView } from '#shared/contracts/project-view.ts';
import { createProjectBody, pageQuery } from '#shared/contracts/rest.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import { bodyOf, principalOf, queryOf } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';
import { onProject } from './resource-route.ts';

export const projectRoutes = ({
  ports,
  stats,
}: {
  readonly ports: ProjectPorts & StatsPorts;
  readonly stats: StatsSettings;
}): readonly ApiRoute[] => [
  {
    method: 'POST',
    path: '/api/projects',
    needs: 'global:write',
    contract: {
      summary: 'Make a project',
      body: createProjectBody,
      answers: { 201: projectAnswer },
      errors: ['invalid_flavor', 'unsupported_language'],
    },
    handler: async (event) =>
      json(
        201,
        projectView(await createProject(ports, principalOf(event), bodyOf(event, createProjectBody))),
      ),
  },
  {
    method: 'GET',
    path: '/api/projects',
    needs: 'own:read',
    contract: { summary: 'List your projects', query: pageQuery, answers: { 200: projectsAnswer } },
    handler: async (event) => {
      const { after } = queryOf(event, pageQuery);
      const page = { itemsMax: pageItemsMax, ...(after === undefined ? {} : { after }) };
      const { projects, next } = await listProjects(ports.projects, principalOf(event), page);
      return json(200, { projects: projects.map(projectView), ...(next === undefined ? {} : { next }) });
    },
  },
  onProject(ports, {
    method: 'GET',
    path: '/api/projects/{id}',
    needs: 'own:read',
    contract: { summary: 'Show a project', answers: { 200: projectAnswer } },
    handler: async (_event, project) => json(200, projectView(project)),
  }),
  {
    method: 'GET',
    path: '/api/stats',
    needs: 'own:read',
    contract: { summary: 'Show what is in use of what may be', answers: { 200: statsAnswer } },
    handler: async (event) => json(200, await resourceStats(ports, principalOf(event), stats)),
  },
];
