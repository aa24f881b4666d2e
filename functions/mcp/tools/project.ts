/** `project`: projects created, changed, shown, listed and deleted, and the available options. */

import { deleteProject } from '#shared/application/project/delete-project.ts';
import { createProject, getProject, updateProject } from '#shared/application/project/manage-projects.ts';
import { searchProjects } from '#shared/application/project/search-projects.ts';
import { templateNames } from '#shared/application/sandbox/known-template.ts';
import { iso } from '#shared/contracts/fields.ts';
import {
  clearedFields,
  createProjectArguments,
  deleteProjectArguments,
  getProjectArguments,
  listProjectsArguments,
  listProjectsResult,
  projectOptionsArguments,
  projectOptionsOfArguments,
  projectOptionsResult,
  projectResult,
  updateProjectArguments,
} from '#shared/contracts/tools/project-tool.ts';
import { deletedResult } from '#shared/contracts/tools/tool-fields.ts';
import { flavors } from '#shared/domain/flavor.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import { defaultModels } from '#shared/domain/model.ts';
import type { Project } from '#shared/domain/project.ts';
import { defineAction, defineActionTool } from '../action-tool.ts';

const create = defineAction({
  needs: 'global:write',
  input: createProjectArguments,
  output: projectResult,
  run: async ({ name, ...options }, { ports, principal, settings }) => {
    const { templates } = settings.defaults;
    return view(
      await createProject(ports, principal, { ...projectOptionsOfArguments(options), name, templates }),
    );
  },
});

const update = defineAction({
  needs: 'global:write',
  input: updateProjectArguments,
  output: projectResult,
  run: async ({ project_id: id, name, clear, ...options }, { ports, principal, settings }) => {
    const { templates } = settings.defaults;
    const change = { ...projectOptionsOfArguments(options), name, ...clearedFields(clear), id, templates };
    return view(await updateProject(ports, principal, change));
  },
});

const remove = defineAction({
  needs: 'global:write',
  input: deleteProjectArguments,
  output: deletedResult,
  run: async ({ project_id: id }, { ports, principal }) => {
    await deleteProject(ports, principal, id);
    return { id, message: `project ${id} deleted` };
  },
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
    shown(await getProject(ports.projects, principal, id), await ports.secretNames(id as ProjectId)),
});

const options = defineAction({
  needs: 'global:read',
  input: projectOptionsArguments,
  output: projectOptionsResult,
  run: async ({ project_id: id }, { ports, principal, settings }) => {
    const project = id === undefined ? undefined : await getProject(ports.projects, principal, id);
    const { provider, model, flavor, template, templates } = settings.defaults;
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
      templates: [...templateNames(templates)],
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
  description: 'Manages projects. A project groups sessions, limits and defaults.',
  actions: { create, list, get, update, delete: remove, options },
  fields: {
    name: 'Name of the project; it need not be unique.',
    project_id: 'Id of the project; with options optional: the project whose secrets are named.',
  },
  annotations: { title: 'Manage projects', destructiveHint: true, openWorldHint: false },
});

const shown = (found: Project, secrets: readonly string[]) => ({ ...view(found), secrets: [...secrets] });

const view = (found: Project) => {
  const { id, name, description, flavor, template, provider, model, thinking, runtime, approvals } = found;
  const { createdAt, flavorsAllowed, disabledTools, mcpNamespacing, limits, network, effects } = found;
  return defined({
    id,
    name,
    description,
    flavor,
    template,
    flavors_allowed: flavorsAllowed && [...flavorsAllowed],
    provider,
    model,
    thinking,
    runtime,
    approvals,
    max_recursion_depth: limits?.recursionDepthMax,
    max_agents_per_session: limits?.agentsPerSessionMax,
    max_cost_usd: limits?.costUsdMax,
    disabled_tools: disabledTools && [...disabledTools],
    mcp_namespacing: mcpNamespacing,
    network: network && [...network.allow],
    inject: network?.inject && [...network.inject],
    effects: effects as Readonly<Record<string, unknown>> | undefined,
    created_at: iso(createdAt),
  });
};

/** Without the fields that are undefined. */
const defined = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
