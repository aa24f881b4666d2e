/** `project`: projects made, shown and listed, and what there is to choose from. */
import { createProject, getProject } from '#shared/application/manage-projects.ts';
import { searchProjects } from '#shared/application/search-projects.ts';
import {
  createProjectArguments,
  getProjectArguments,
  listProjectsArguments,
  listProjectsResult,
  projectOptionsArguments,
  projectOptionsResult,
  projectResult,
} from '#shared/contracts/platform-tools.ts';
import { flavors, templates } from '#shared/domain/flavor.ts';
import { defaultModels } from '#shared/domain/model.ts';
import type { Project } from '#shared/domain/project.ts';
import { defineAction, defineActionTool } from '../action-tool.ts';

const create = defineAction({
  needs: 'global:write',
  input: createProjectArguments,
  output: projectResult,
  run: async ({ flavors_allowed: flavorsAllowed, ...wish }, { ports, principal }) =>
    view(await createProject(ports, principal, { ...wish, flavorsAllowed })),
});

const list = defineAction({
  needs: 'own:read',
  input: listProjectsArguments,
  output: listProjectsResult,
  run: async ({ name_contains: nameContains, limit: itemsMax, after }, { ports, principal }) => {
    const search = { nameContains, itemsMax, after };
    const { projects, next } = await searchProjects(ports.projects, principal, search);
    return { projects: projects.map(view), ...(next === undefined ? {} : { next }) };
  },
});

const get = defineAction({
  needs: 'own:read',
  input: getProjectArguments,
  output: projectResult,
  run: async ({ project_id: id }, { ports, principal }) =>
    view(await getProject(ports.projects, principal, id)),
});

const options = defineAction({
  needs: 'global:read',
  input: projectOptionsArguments,
  output: projectOptionsResult,
  run: async ({ project_id: id }, { ports, principal, settings }) => {
    const project = id === undefined ? undefined : await getProject(ports.projects, principal, id);
    const { provider, model, flavor, template } = settings.defaults;
    const { recursionDepthMax, agentsPerSessionMax, costUsdMax } = settings.limits;
    return {
      defaults: {
        model: model ?? defaultModels[provider],
        flavor,
        template,
        max_recursion_depth: recursionDepthMax,
        max_agents_per_session: agentsPerSessionMax,
        max_cost_usd: costUsdMax,
      },
      models: Object.entries(defaultModels).map(([name, id]) => ({ provider: name, id })),
      templates: [...templates],
      flavors: Object.entries(flavors).map(([name, { cpus, memoryMb }]) => ({
        name,
        cpus,
        memory_mb: memoryMb,
      })),
      token_scopes: ['admin', 'admin:ro', 'project:<uuid>', 'project:<uuid>:ro'],
      secrets: project === undefined ? [] : [...(await ports.secretNames(project.id))],
    };
  },
});

export const project = defineActionTool({
  name: 'project',
  description: 'Projects: whose sessions, limits and defaults belong together.',
  actions: { create, list, get, options },
});

const view = ({ id, name, description, flavor, template, flavorsAllowed, createdAt }: Project) => ({
  id,
  name,
  ...(description === undefined ? {} : { description }),
  ...(flavor === undefined ? {} : { flavor }),
  ...(template === undefined ? {} : { template }),
  ...(flavorsAllowed === undefined ? {} : { flavors_allowed: [...flavorsAllowed] }),
  created_at: new Date(createdAt).toISOString(),
});
