/** Snapshots of a workspace: the bodies of requests, and a snapshot as REST shows it. */
import * as z from 'zod';
import { snapshotNameCharactersMax } from '#shared/domain/limits.ts';
import type { Snapshot } from '#shared/domain/snapshot.ts';
import { givenUuid, iso, plainName } from '../fields.ts';

export const snapshotBody = z.object({
  name: plainName(z.string().min(1).max(snapshotNameCharactersMax)).optional(),
});

export const snapshotsQuery = z.object({
  of: z
    .enum(['workspace', 'project'])
    .default('workspace')
    .describe('`workspace`: the snapshots of the workspace of the session; `project`: all of its project.'),
});

export const restoreBody = z.object({
  snapshot: givenUuid.describe('Id of a snapshot of the same project.'),
});

export const snapshotAnswer = z
  .object({
    id: z.uuid(),
    name: z.string(),
    at: z.iso.datetime(),
    files: z.number().int().min(0),
    bytes: z.number().int().min(0),
  })
  .meta({ id: 'Snapshot', description: 'Files of a workspace at one moment.' });

export const snapshotsAnswer = z.object({ snapshots: z.array(snapshotAnswer) });

export const snapshotView = ({ id, name, at, checkpoint }: Snapshot): z.output<typeof snapshotAnswer> => ({
  id,
  name,
  at: iso(at),
  files: checkpoint?.files ?? 0,
  bytes: checkpoint?.bytes ?? 0,
});
