/** The arguments and results of the tool `workspace`. */
import * as z from 'zod';
import { clientIdCharactersMax, pageItemsMax } from '#shared/domain/limits.ts';
import { after, closed, moment, next, projectId, wholeFrom, workspaceId } from './tool-fields.ts';

export const listWorkspacesArguments = closed({
  project_id: projectId
    .optional()
    .describe('Id of the project; absent: that of the token, or the default one.'),
  limit: wholeFrom(1, pageItemsMax)
    .default(pageItemsMax)
    .describe('Largest number of workspaces besides the default one.'),
  after: after(clientIdCharactersMax * 4),
});

const workspaceResult = z.object({
  id: z.string().describe('Id of the workspace.'),
  project_id: z.string().describe('Id of the project.'),
  is_default: z.boolean().describe('True: the default workspace of the project.'),
  external_id: z.string().optional().describe('Id that the client gave the workspace.'),
  source: z.string().optional().describe('Origin of the workspace, as the client stated it.'),
  created_at: moment,
  active_sessions: z.int().describe('Number of sessions that use the workspace now.'),
  latest_session_id: z
    .string()
    .optional()
    .describe('Id of the agent session that entered the workspace last.'),
  saved_at: moment.optional(),
});

export const listWorkspacesResult = z.object({
  workspaces: z
    .array(workspaceResult)
    .describe('Workspaces: the default one, then the others, oldest first.'),
  next,
});

export const deleteWorkspaceArguments = closed({
  project_id: projectId
    .optional()
    .describe('Id of the project; absent: that of the token, or the default one.'),
  workspace_id: workspaceId,
});
