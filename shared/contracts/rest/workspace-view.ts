/**
 * A workspace as REST and the tools of `/mcp` show it, and its sandbox: logs, leased ports.
 */
import * as z from 'zod';
import { isPreviewPort, previewPortRule, type Workspace } from '#shared/domain/sandbox.ts';
import { iso, logStream } from '../fields.ts';

export const workspaceAnswer = z
  .object({
    id: z.uuid(),
    project: z.uuid(),
    projectId: z.uuid().describe('The same as `project`.'),
    isDefault: z.boolean(),
    externalId: z.string().optional(),
    source: z.string().optional(),
    createdAt: z.iso.datetime(),
    activeSessions: z.number().int().min(0).describe('Number of sessions that use the workspace now.'),
    latestSession: z.uuid().optional().describe('Id of the agent session that entered the workspace last.'),
    latestSessionId: z.uuid().optional().describe('The same as `latestSession`.'),
    savedAt: z.iso.datetime().optional().describe('Time at which the files were last saved.'),
  })
  .meta({ id: 'Workspace' });

export const workspacesAnswer = z.object({
  workspaces: z.array(workspaceAnswer),
  next: z.string().optional(),
});

export const workspaceView = (workspace: Workspace): z.output<typeof workspaceAnswer> => {
  const { id, project, isDefault = false, externalId, source, createdAt, users } = workspace;
  const { latestAgent, checkpoint } = workspace;
  return {
    id,
    project,
    projectId: project,
    isDefault,
    ...(externalId === undefined ? {} : { externalId }),
    ...(source === undefined ? {} : { source }),
    createdAt: iso(createdAt),
    activeSessions: users.length,
    ...(latestAgent === undefined ? {} : { latestSession: latestAgent, latestSessionId: latestAgent }),
    ...(checkpoint === undefined ? {} : { savedAt: iso(checkpoint.savedAt) }),
  };
};

export const logsAnswer = z.object({
  lines: z.array(z.object({ at: z.iso.datetime(), stream: logStream, text: z.string() })),
});

export const previewPort = z.number().int().min(1024).max(65_535).refine(isPreviewPort, previewPortRule);

export const portAnswer = z
  .object({ port: previewPort, path: z.string().describe('Path of the preview.') })
  .meta({ id: 'LeasedPort' });

export const portsAnswer = z.object({ ports: z.array(portAnswer) });
