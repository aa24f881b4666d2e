/** Lists that a field offers: whole, since what is on a later page could not be chosen and has no name. */
import { readPages } from '#sdk/pages.ts';
import { api, type Project, type Workspace } from '#sdk/routes.ts';
import { request } from './request.ts';

export const allProjects = (signal: AbortSignal): Promise<readonly Project[]> =>
  readPages(
    (after) => request(api.listProjects, { query: { after } }, { signal }),
    ({ projects }) => projects,
  );

export const allWorkspaces = (projectId: string, signal: AbortSignal): Promise<readonly Workspace[]> =>
  readPages(
    (after) => request(api.listWorkspaces, { params: { id: projectId }, query: { after } }, { signal }),
    ({ workspaces }) => workspaces,
  );
