/** The files that a new session begins with, without a copy (SN5): those of a snapshot, or of another session as of now. */

import type { SessionId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import { type FilesSource, sourceOfSnapshot, sourceOfWorkspace } from '../../domain/snapshot.ts';
import { sessionNotFound } from '../access/find-session.ts';
import { requireReach } from '../access/require-permission.ts';
import { savedWorkspace } from '../sandbox/saved-workspace.ts';
import { findSnapshot, type SnapshotDeps } from './manage-snapshots.ts';

/** Exactly one of them. */
export type ForkOf = { readonly snapshot?: string | undefined; readonly session?: string | undefined };

/** Read again for each attempt to create the session. A source in another project is not found. */
export const forkSource =
  (ports: SnapshotDeps, principal: Principal, of: ForkOf) =>
  async (project: Project): Promise<FilesSource> => {
    if (of.snapshot !== undefined) {
      const find = { project: project.id, id: of.snapshot, principal, intent: 'read' } as const;
      return sourceOfSnapshot(await findSnapshot(ports, find));
    }
    const session = await ports.sessions.get(of.session as SessionId);
    if (session?.project !== project.id) throw sessionNotFound();
    requireReach(principal, session, { intent: 'read', notFound: sessionNotFound });
    const { id, checkpoint } = await savedWorkspace(ports, session.workspace);
    return sourceOfWorkspace(id, checkpoint);
  };
