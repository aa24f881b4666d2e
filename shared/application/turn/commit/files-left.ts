/** A look at the files of a turn that ends without its sandbox: what its calls wrote there may be lost with that. */

import { iso } from '../../../contracts/fields.ts';
import { lostSince } from '../../../domain/sandbox.ts';
import type { Session } from '../../../domain/session.ts';
import type { SavedFiles } from '../../../domain/turn/saved-files.ts';
import type { TurnState } from '../../../domain/turn/turn.ts';
import type { Deps } from '../../deps.ts';

/** Undefined when nothing is known to be lost. */
export const filesLeft = async (
  { workspaces }: Deps<'workspaces'>,
  { workspace: id, lastActiveAt: steppedAt }: Session,
  state: TurnState,
): Promise<SavedFiles | undefined> => {
  const unsaved = 'unsaved' in state ? state.unsaved : undefined;
  if (unsaved === undefined) return undefined;
  const workspace = await workspaces.get(id);
  const { sandbox, checkpoint } = workspace ?? {};
  if (workspace === undefined || sandbox === undefined || sandbox.generation < unsaved.generation)
    return undefined;
  const { generation } = sandbox;
  const saved = checkpoint === undefined ? {} : { savedAt: iso(checkpoint.savedAt) };
  if (generation > unsaved.generation)
    return sandbox.lost === undefined ? undefined : { ...saved, generation, followsLoss: true };
  const lost = lostSince(workspace, { since: 0, steppedAt });
  return lost === undefined ? undefined : { ...saved, generation, lost };
};
