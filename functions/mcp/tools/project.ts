/** `project`: projects made, shown and listed. */
import { createProject, getProject, listProjects } from '#shared/application/manage-projects.ts';
import {
  createProjectArguments,
  getProjectArguments,
  listProjectsArguments,
  listProjectsResult,
  projectResult,
} from '#shared/contracts/mcp-tools.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import type { Project } from '#shared/domain/project.ts';
import { defineAction, defineActionTool } from '../action-tool.ts';

const create = defineAction({
  input: createProjectArguments,
  output: projectResult,
  run: async ({ flavors_allowed: flavorsAllowed, ...wish }, { ports, principal }) =>
    view(await createProject(ports, principal, { ...wish, flavorsAllowed })),
});

const get = defineAction({
  input: getProjectArguments,
  output: projectResult,
  run: async ({ project_id: id }, { ports, principal }) =>
    view(await getProject(ports.projects, principal, id)),
});

const list = defineAction({
  input: listProjectsArguments,
  output: listProjectsResult,
  run: async ({ after }, { ports, principal }) => {
    const page = { itemsMax: pageItemsMax, ...(after === undefined ? {} : { after }) };
    const { projects, next } = await listProjects(ports.projects, principal, page);
    return { projects: projects.map(view), ...(next === undefined ? {} : { next }) };
  },
});

export const project = defineActionTool({
  name: 'project',
  description: 'Projects: whose sessions, limits and defaults belong together.',
  actions: { create, get, list },
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
