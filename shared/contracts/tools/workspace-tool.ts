/** The arguments and results of the tool `workspace`. */
import * as z from 'zod';
import { clientIdCharactersMax, pageItemsMax } from '#shared/domain/limits.ts';
import { after, closed, moment, next, projectId, wholeFrom, workspaceId } from './tool-fields.ts';

export const listWorkspacesArguments = closed({
  project_id: projectId.optional().describe('The project; absent: the one of the token, or the default one.'),
  limit: wholeFrom(1, pageItemsMax)
    .default(pageItemsMax)
    .describe('How many at most, besides the default one.'),
  after: after(clientIdCharactersMax * 4),
});

export const workspaceResult = z.object({
  id: z.string().describe('Its id.'),
  project_id: z.string().describe('Its project.'),
  is_default: z.boolean().describe('What the project falls back to.'),
  external_id: z.string().optional().describe('What its client calls it.'),
  source: z.string().optional().describe('Where it comes from.'),
  created_at: moment,
  active_sessions: z.int().describe('Sessions that use it now.'),
  latest_session_id: z.string().optional().describe('The agent session that entered it last.'),
  saved_at: moment.optional(),
});

export const listWorkspacesResult = z.object({
  workspaces: z.array(workspaceResult).describe('The default one, then the others, oldest first.'),
  next,
});

export const deleteWorkspaceArguments = closed({
  project_id: projectId.optional().describe('The project; absent: the one of the token, or the default one.'),
  workspace_id: workspaceId,
});
