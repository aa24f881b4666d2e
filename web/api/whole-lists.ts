/** Lists that are needed whole: what is on a later page could not be chosen in a field, would have no name and no notification. */
import { readPages } from '#sdk/pages.ts';
import { api, type Project, type WaitingRow, type Workspace } from '#sdk/routes.ts';
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

export const allApprovals = (signal?: AbortSignal): Promise<readonly WaitingRow[]> =>
  readPages(
    (after) => request(api.listApprovals, { query: { after } }, { signal }),
    ({ approvals }) => approvals,
  );
