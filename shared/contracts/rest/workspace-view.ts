/**
 * A workspace as REST and the tools of `/mcp` show it, and its sandbox: files, logs, leased ports.
 */
import * as z from 'zod';
import { previewPortCount, previewPortFirst } from '#shared/domain/limits.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import { iso, logStream } from '../fields.ts';

export const workspaceAnswer = z
  .object({
    id: z.uuid(),
    project: z.uuid(),
    isDefault: z.boolean(),
    externalId: z.string().optional(),
    source: z.string().optional(),
    createdAt: z.iso.datetime(),
    activeSessions: z.number().int().min(0).describe('Number of sessions that use the workspace now.'),
    latestSession: z.uuid().optional().describe('Id of the agent session that entered the workspace last.'),
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
    isDefault,
    ...(externalId === undefined ? {} : { externalId }),
    ...(source === undefined ? {} : { source }),
    createdAt: iso(createdAt),
    activeSessions: users.length,
    ...(latestAgent === undefined ? {} : { latestSession: latestAgent }),
    ...(checkpoint === undefined ? {} : { savedAt: iso(checkpoint.savedAt) }),
  };
};

const bytes = z.number().int().min(0);

export const filesAnswer = z.object({
  files: z.array(
    z
      .object({
        name: z.string(),
        type: z.enum(['file', 'directory', 'symlink']),
        size: bytes,
        modifiedAt: z.iso.datetime(),
      })
      .meta({ id: 'FileEntry' }),
  ),
});

export const writtenAnswer = z
  .object({ path: z.string(), size: bytes })
  .meta({ id: 'WrittenFile', description: 'Complete file that a checkpoint contains.' });

export const receivedAnswer = z.object({
  received: bytes.describe('Number of bytes of the file received so far.'),
});

export const logsAnswer = z.object({
  lines: z.array(z.object({ at: z.iso.datetime(), stream: logStream, text: z.string() })),
});

export const previewPort = z
  .number()
  .int()
  .min(previewPortFirst)
  .max(previewPortFirst + previewPortCount - 1);

export const portAnswer = z
  .object({ port: previewPort, path: z.string().describe('Path of the preview.') })
  .meta({ id: 'LeasedPort' });

export const portsAnswer = z.object({ ports: z.array(portAnswer) });
