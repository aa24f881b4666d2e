/** A look at the files of a turn that ends without its sandbox: what its calls wrote there may be lost with that. */

import { iso } from '../../../contracts/fields.ts';
import { notSavedEntry } from '../../../contracts/sandbox-start.ts';
import type { LogEntry } from '../../../domain/event-log.ts';
import { isSavedSince, lostSince } from '../../../domain/sandbox.ts';
import type { Session } from '../../../domain/session.ts';
import type { SavedFiles } from '../../../domain/turn/saved-files.ts';
import type { TurnState } from '../../../domain/turn/turn.ts';
import type { Deps } from '../../deps.ts';

export type FilesAtTurnEnd = {
  /** Undefined when nothing is known to be lost. */
  readonly files?: SavedFiles;
  /** Says that a sandbox which runs on has them, and no checkpoint. */
  readonly log: readonly LogEntry[];
};

const nothing: FilesAtTurnEnd = { log: [] };

export const filesAtTurnEnd = async (
  { workspaces }: Deps<'workspaces'>,
  { workspace: id, lastActiveAt: steppedAt }: Session,
  state: TurnState,
): Promise<FilesAtTurnEnd> => {
  const unsaved = 'unsaved' in state ? state.unsaved : undefined;
  if (unsaved === undefined) return nothing;
  const workspace = await workspaces.get(id);
  const { sandbox, checkpoint } = workspace ?? {};
  if (workspace === undefined || sandbox === undefined || sandbox.generation < unsaved.generation)
    return nothing;
  const { generation } = sandbox;
  const saved = checkpoint === undefined ? {} : { savedAt: iso(checkpoint.savedAt) };
  if (generation > unsaved.generation)
    return sandbox.lost === undefined
      ? nothing
      : { files: { ...saved, generation, followsLoss: true }, log: [] };
  const lost = lostSince(workspace, { since: 0, steppedAt });
  if (lost !== undefined) return { files: { ...saved, generation, lost }, log: [] };
  const runsOn = unsaved.isUntried === true && sandbox.state !== 'stopped';
  if (!runsOn || isSavedSince(workspace, steppedAt)) return nothing;
  return { log: [notSavedEntry('the turn ended without its function', checkpoint?.savedAt)] };
};
