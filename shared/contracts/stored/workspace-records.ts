/** A workspace as the table holds it, with its sandbox and its checkpoint, and the log of its sandbox beside it. */

import * as z from 'zod';
import type { OwnerId, ProjectId, SessionId, SnapshotId, TurnId, WorkspaceId } from '#shared/domain/ids.ts';
import type { PinHolder } from '#shared/domain/pins.ts';
import { sandboxSources, sandboxStates } from '#shared/domain/sandbox.ts';
import type { SlotHolder } from '#shared/domain/slot-holder.ts';
import { logStream } from '../fields.ts';
import { onFirstUse } from '../on-first-use.ts';
import { count, environmentRef, epochMs, flavor, id, storedNetwork, template } from './fields.ts';

export const sandboxRecord = onFirstUse(() =>
  z.object({
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
    idleCheck: z.string().exactOptional(),
    stopRequestedAt: epochMs.exactOptional(),
    savingUntil: epochMs.exactOptional(),
    taskStopRequestedAt: epochMs.exactOptional(),
    isUnsaved: z.literal(true).exactOptional(),
    stoppedAt: epochMs.exactOptional(),
    stoppedReason: z.string().exactOptional(),
    untold: z.array(id<SessionId>()).exactOptional(),
    isDiscarded: z.literal(true).exactOptional(),
    lost: z.string().exactOptional(),
    restoringUntil: epochMs.exactOptional(),
    restores: count.exactOptional(),
    ports: z.array(z.number().int()).exactOptional(),
    logsSeen: count.exactOptional(),
    environment: environmentRef().exactOptional(),
    cwd: z.string().exactOptional(),
    network: storedNetwork().exactOptional(),
    lifetimeMs: count.exactOptional(),
    hasProcesses: z.literal(true).exactOptional(),
    isTrial: z.literal(true).exactOptional(),
    slot: z
      .object({ holder: z.string().transform((holder) => holder as SlotHolder), session: id<SessionId>() })
      .exactOptional(),
    processesOf: count.exactOptional(),
    meter: z
      .object({ root: id<SessionId>(), slices: z.array(id<SessionId>()), since: epochMs, restMs: z.number() })
      .exactOptional(),
  }),
);

export const checkpointRecord = onFirstUse(() =>
  z.object({
    id: z.string(),
    sha256: z.string(),
    workspace: id<WorkspaceId>().exactOptional(),
    savedAt: epochMs,
    generation: count,
    files: count,
    bytes: count,
    packs: z.array(z.string()),
    turn: id<TurnId>().exactOptional(),
    sameAs: z.string().exactOptional(),
  }),
);

const keptRecord = onFirstUse(() =>
  z.object({
    states: z.array(z.object({ checkpoint: checkpointRecord().exactOptional(), until: epochMs })),
    since: epochMs,
  }),
);

export const workspaceRecord = onFirstUse(() =>
  z.object({
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
    firstGeneration: count.exactOptional(),
    sandbox: sandboxRecord().exactOptional(),
    checkpoint: checkpointRecord().exactOptional(),
    kept: keptRecord().exactOptional(),
    isPinned: z.literal(true).exactOptional(),
    sources: z.array(id<WorkspaceId>()).exactOptional(),
    losses: z.object({ generation: count, notice: z.string() }).exactOptional(),
    unaware: z.array(id<SessionId>()).exactOptional(),
  }),
);

export const remainsRecord = onFirstUse(() => z.object({ id: id<WorkspaceId>(), dueAt: epochMs }));

export const snapshotRecord = onFirstUse(() =>
  z.object({
    id: id<SnapshotId>(),
    project: id<ProjectId>(),
    owner: id<OwnerId>(),
    workspace: id<WorkspaceId>(),
    session: id<SessionId>(),
    name: z.string(),
    at: epochMs,
    checkpoint: checkpointRecord().exactOptional(),
  }),
);

export const pinRecord = onFirstUse(() =>
  z.object({
    owner: id<WorkspaceId>(),
    holder: z.custom<PinHolder>((text) => typeof text === 'string' && /^(snapshot|workspace):/.test(text)),
    objects: z.array(z.string()),
    releasedAt: epochMs.exactOptional(),
  }),
);

export const processRecord = onFirstUse(() =>
  z.object({
    id: z.string(),
    workspace: id<WorkspaceId>(),
    generation: count,
    session: id<SessionId>(),
    command: z.string(),
    isPty: z.boolean(),
    startedAt: epochMs,
    endedAt: epochMs.exactOptional(),
    exitCode: z.number().int().exactOptional(),
  }),
);

export const sandboxLogRecord = onFirstUse(() =>
  z.object({
    lines: z.array(
      z.object({ at: epochMs, stream: logStream, text: z.string(), id: z.string().exactOptional() }),
    ),
  }),
);
