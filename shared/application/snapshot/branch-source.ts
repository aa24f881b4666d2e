/**
 * Beginning of a branch of a conversation: the messages and events up to one message, and the files of that time, or those of
 * now. Nothing is saved and no sandbox is asked for files of an earlier time.
 */

import { type Branch, branchAt } from '../../domain/branch.ts';
import type { SessionId } from '../../domain/ids.ts';
import { checkpointAt } from '../../domain/kept-checkpoints.ts';
import { eventsPerSessionMax } from '../../domain/limits.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import { type FilesSource, sourceOfKept } from '../../domain/snapshot.ts';
import { AppError } from '../../errors.ts';
import { findSession } from '../access/find-session.ts';
import type { Deps } from '../deps.ts';
import { existingWorkspace, savedWorkspace } from '../sandbox/saved-workspace.ts';
import type { SnapshotDeps } from './manage-snapshots.ts';

export type BranchOf = {
  readonly session: SessionId;
  readonly messageId: string;
  readonly files?: 'then' | 'now' | undefined;
};

export type BranchSource = {
  readonly session: Session;
  readonly branch: Branch;
  /** The text that the agent of the other session reads. */
  readonly instructions?: string;
};

/** Throws `session_not_found`, or `invalid_request` naming the message. */
export const readBranch = async (
  { turns, eventLog }: Deps<'turns' | 'eventLog'>,
  principal: Principal,
  { session: id, messageId }: BranchOf,
): Promise<BranchSource> => {
  const { session } = await findSession(turns, { id, principal, intent: 'read' });
  if (session.kind !== 'agent') throw refused('from.session: an execution session has no conversation');
  // The log first: a message that is in the history alone was said since.
  const { events } = await eventLog.read(id, { since: -1, eventsMax: eventsPerSessionMax });
  const { history, instructions } = await turns.loadWork(id);
  const branch = branchAt({ history, events }, messageId);
  if (branch === undefined)
    throw refused('from.messageId: the conversation cannot be continued from this message', [
      "Name a message of the user, or an answer that ended its turn, of the agent's present conversation.",
    ]);
  return { session, branch, ...(instructions === undefined ? {} : { instructions }) };
};

/** The files of a branch; read again for each attempt to create its session. */
export const branchFiles = async (
  ports: SnapshotDeps,
  { session, branch }: BranchSource,
  files: BranchOf['files'] = 'then',
): Promise<FilesSource> => {
  if (files === 'now' || branch.filesAt === 'now') {
    const saved = await savedWorkspace(ports, session.workspace);
    return sourceOfKept(saved, saved.checkpoint);
  }
  const workspace = await existingWorkspace(ports, session.workspace);
  const found = branch.filesAt === undefined ? 'unknown' : checkpointAt(workspace, branch.filesAt);
  if (found !== 'unknown') return sourceOfKept(workspace, found);
  throw new AppError('conflict', 'the files of the time of this message are no longer kept', {
    suggestions: ['Branch with the present files: from.files "now".'],
    recoveryActions: ['correct_arguments'],
  });
};

const refused = (message: string, suggestions: readonly string[] = []): AppError =>
  new AppError('invalid_request', message, {
    ...(suggestions.length === 0 ? {} : { suggestions }),
    recoveryActions: ['correct_arguments'],
  });
