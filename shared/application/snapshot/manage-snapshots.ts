/** The snapshots of a project: made of a session's workspace, found, listed, deleted. Making one copies nothing. */

import { mayRead } from '../../domain/access.ts';
import { isUuid, type SnapshotId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import { ownedBy, type Snapshot } from '../../domain/snapshot.ts';
import { AppError } from '../../errors.ts';
import { auditRow, recordAudit } from '../access/audit.ts';
import { projectNotFound } from '../access/find-project.ts';
import { requireReach } from '../access/require-permission.ts';
import type { Deps, StopDeps } from '../deps.ts';
import { savedWorkspace } from '../sandbox/saved-workspace.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';

export type SnapshotDeps = StopDeps & Deps<'snapshots' | 'projects'>;

type SnapshotRequest = {
  readonly session: Session;
  readonly principal: Principal;
  readonly name?: string | undefined;
  readonly snapshotsMax: number;
};

/**
 * Saves the workspace first. Throws `resource_limit_exceeded` when the project has as many as it may. The ended sessions of a deleted
 * project outlive its mark: it is looked for first, and the write refuses a project that is marked since.
 */
export const makeSnapshot = async (ports: SnapshotDeps, request: SnapshotRequest): Promise<Snapshot> => {
  const { session, principal, snapshotsMax } = request;
  const { snapshots, telemetry, world } = ports;
  const id = world.uuid() as SnapshotId;
  if (await ports.projects.isMarked(session.project)) throw projectNotFound();
  return untilWon(async () => {
    const { id: workspace, owner, checkpoint } = await savedWorkspace(ports, session.workspace);
    const at = world.now();
    const name = request.name ?? `Snapshot of ${new Date(at).toISOString()}`;
    const made: Snapshot = {
      ...{ id, project: session.project, owner, workspace, session: session.id, name, at },
      ...(checkpoint === undefined ? {} : { checkpoint: ownedBy(workspace, checkpoint) }),
    };
    const row = auditRow(principal, at, {
      action: 'snapshot.create',
      subject: id,
      project: session.project,
      detail: { sessionId: session.id, name },
    });
    const result = await snapshots.create(made, { snapshotsMax, audits: [row] });
    if (result === 'gone') throw projectNotFound();
    if (result === 'full') throw noSnapshotLeft(snapshotsMax);
    if (result === 'moved') return raceLost;
    recordAudit(telemetry, row);
    return made;
  }, changesTooOften('the workspace'));
};

const noSnapshotLeft = (max: number): AppError =>
  new AppError('resource_limit_exceeded', `all ${max} snapshots of this project are in use`, {
    facts: { maxSnapshots: max },
    suggestions: ['Delete a snapshot that is no longer needed.'],
  });

/** Of the session's workspace, or of its whole project as far as the caller may see it; newest first. */
export const listSnapshots = async (
  { snapshots }: Deps<'snapshots'>,
  {
    session,
    principal,
    of,
  }: Pick<SnapshotRequest, 'session' | 'principal'> & { readonly of: 'workspace' | 'project' },
): Promise<readonly Snapshot[]> => {
  const all = await snapshots.list(session.project);
  return all.filter(
    (snapshot) =>
      mayRead(principal, snapshot) && (of === 'project' || snapshot.workspace === session.workspace),
  );
};

type Find = Pick<Snapshot, 'project'> & {
  readonly id: string;
  readonly principal: Principal;
  readonly intent: 'read' | 'write';
};

/** One of another project, or of another person, is not found. */
export const findSnapshot = async (
  { snapshots }: Deps<'snapshots'>,
  { project, id, principal, intent }: Find,
): Promise<Snapshot> => {
  const found = isUuid(id) ? await snapshots.get(project, id as SnapshotId) : undefined;
  if (found === undefined) throw snapshotNotFound();
  requireReach(principal, found, { intent, notFound: snapshotNotFound });
  return found;
};

const snapshotNotFound = (): AppError =>
  new AppError('not_found', 'there is no such snapshot in this project', {
    suggestions: ['List the snapshots of the project.'],
    recoveryActions: ['correct_arguments'],
  });

/** Its files are deleted soon after, unless something else needs them. */
export const deleteSnapshot = async (
  ports: Deps<'snapshots' | 'telemetry' | 'world'>,
  snapshot: Snapshot,
  principal: Principal,
): Promise<void> => {
  const { id, project, name } = snapshot;
  const at = ports.world.now();
  const row = auditRow(principal, at, { action: 'snapshot.delete', subject: id, project, detail: { name } });
  if (!(await ports.snapshots.remove(snapshot, at, [row]))) throw snapshotNotFound();
  recordAudit(ports.telemetry, row);
};
