/** A workspace as the table holds it, with its sandbox and its checkpoint, and beside it its sandbox's log. */

import * as z from 'zod';
import type { OwnerId, ProjectId, SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import { sandboxSources, sandboxStates } from '#shared/domain/sandbox.ts';
import { logStream } from '../fields.ts';
import { count, epochMs, flavor, id, template } from './fields.ts';

export const sandboxRecord = z.object({
  generation: count,
  state: z.enum(sandboxStates),
  flavor,
  template,
  requestedAt: epochMs,
  source: z.enum(sandboxSources),
  warm: z.object({ entry: id<WorkspaceId>(), generation: count }).exactOptional(),
  taskArn: z.string().exactOptional(),
  address: z.string().exactOptional(),
  readyAt: epochMs.exactOptional(),
  stopRequestedAt: epochMs.exactOptional(),
  savingUntil: epochMs.exactOptional(),
  taskStopRequestedAt: epochMs.exactOptional(),
  stoppedAt: epochMs.exactOptional(),
  stoppedReason: z.string().exactOptional(),
  lost: z.string().exactOptional(),
  restoringUntil: epochMs.exactOptional(),
  ports: z.array(z.number().int()).exactOptional(),
  logsSeen: count.exactOptional(),
});

const checkpointRecord = z.object({
  id: z.string(),
  sha256: z.string(),
  savedAt: epochMs,
  generation: count,
  files: count,
  bytes: count,
});

export const workspaceRecord = z.object({
  id: id<WorkspaceId>(),
  owner: id<OwnerId>(),
  project: id<ProjectId>(),
  createdAt: epochMs,
  users: z.array(id<SessionId>()),
  isNamed: z.literal(true).exactOptional(),
  isDefault: z.literal(true).exactOptional(),
  externalId: z.string().exactOptional(),
  source: z.string().exactOptional(),
  latestAgent: id<SessionId>().exactOptional(),
  deletedAt: epochMs.exactOptional(),
  sandbox: sandboxRecord.exactOptional(),
  checkpoint: checkpointRecord.exactOptional(),
});

export const sandboxLogRecord = z.object({
  lines: z.array(z.object({ at: epochMs, stream: logStream, text: z.string() })),
});
