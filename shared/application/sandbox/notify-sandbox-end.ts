/**
 * Notifies the sessions that used a workspace of the end of its sandbox, each once (L9). A function that dies before all were told
 * leaves the record marked: the next start tells first, and so does the janitor's next sweep.
 */

import { eventFrame } from '../../contracts/frames.ts';
import { stoppedEntry } from '../../contracts/sandbox-start.ts';
import { lostWith } from '../../domain/process.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import type { TaskDeps } from '../deps.ts';
import { openPublisher } from '../events/publisher.ts';

/** No effect on a sandbox whose sessions were told. */
export const notifySandboxEnd = async (ports: TaskDeps, workspace: Workspace): Promise<void> => {
  const { id, sandbox, checkpoint } = workspace;
  if (sandbox?.untold === undefined) return;
  const { generation, stoppedReason = 'it stopped' } = sandbox;
  const lost = await countLost(ports, workspace);
  const entry = stoppedEntry(stoppedReason, checkpoint?.savedAt, lost);
  const once = { mark: generation, entries: [entry], at: ports.world.now() };
  for (const session of sandbox.untold) {
    const events = (await ports.eventLog.appendOnce(session, once)) ?? [];
    await openPublisher(ports, { id: session }).publish(events.map((event) => eventFrame(session, event)));
  }
  await ports.workspaces.recordTold(id, generation);
};

/** The processes that ended with the sandbox; only one that ever had any is looked up. */
const countLost = async ({ processes }: TaskDeps, { id, sandbox }: Workspace): Promise<number> =>
  sandbox?.hasProcesses === undefined ? 0 : lostWith(await processes.list(id), sandbox.generation).length;
