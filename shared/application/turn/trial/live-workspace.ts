/** The files of a session as a trial takes them and an application finds them: saved at this moment, with what no checkpoint can hold. */
import type { WorkspaceId } from '../../../domain/ids.ts';
import type { StopDeps } from '../../deps.ts';
import { savedWithRest } from '../../sandbox/saved-workspace.ts';

export const liveWorkspace = async (ports: StopDeps, id: WorkspaceId): ReturnType<typeof savedWithRest> => {
  const saved = await savedWithRest(ports, id);
  // A file that was written to while it was read may stand still now.
  return saved.leftOut.length === 0 ? saved : savedWithRest(ports, id);
};
