/**
 * Notes what ECS says of a task: its address when it runs, and that it stopped, with the reason.
 *
 * Events come at least once and in any order; each transition is conditional on the generation, so that a
 * late or repeated one changes nothing.
 */
import { eventFrame } from '../contracts/frames.ts';
import type { SessionId } from '../domain/ids.ts';
import { decodeTaskGroup } from '../domain/sandbox.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { WorkspaceStore } from '../ports/workspace-store.ts';
import { type AudiencePorts, openAudience } from './audience.ts';

export type TaskPorts = AudiencePorts & {
  readonly sessions: SessionStore;
  readonly workspaces: WorkspaceStore;
};

export type TaskEvent = {
  readonly taskArn: string;
  readonly group: string;
  readonly lastStatus: string;
  /** The private address and port of its server, once it has one. */
  readonly address?: string;
  readonly stoppedReason?: string;
};

export const noteTaskEvent = async (ports: TaskPorts, event: TaskEvent): Promise<void> => {
  const task = decodeTaskGroup(event.group);
  if (task === undefined) return;
  const { workspaceId, generation } = task;
  if (event.lastStatus === 'RUNNING' && event.address !== undefined) {
    await ports.workspaces.noteTask(workspaceId, generation, event.taskArn);
    await ports.workspaces.noteAddress(workspaceId, generation, event.address);
  }
  if (event.lastStatus !== 'STOPPED') return;
  const reason = event.stoppedReason ?? 'the task stopped';
  const stopped = await ports.workspaces.markStopped(workspaceId, generation, {
    reason,
    at: ports.world.now(),
  });
  if (stopped === undefined) return;
  ports.telemetry.count('SandboxesStopped');
  for (const session of stopped.users) await sayStopped(ports, session, reason);
};

const sayStopped = async (ports: TaskPorts, id: SessionId, reason: string): Promise<void> => {
  const entry = { type: 'system' as const, data: { kind: 'sandbox_stopped', reason } };
  const events = (await ports.sessions.append(id, [entry], ports.world.now())) ?? [];
  await openAudience(ports, id).tell(events.map((logged) => eventFrame(id, logged)));
};
