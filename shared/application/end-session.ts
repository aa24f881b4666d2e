/**
 * Ends a session: its running turn and every waiting message are completed as cancelled, then it is marked
 * ended, then its sandbox is asked to stop unless another session of the workspace still uses it.
 */
import { eventFrame } from '../contracts/frames.ts';
import type { SessionId, TurnId } from '../domain/ids.ts';
import { endedStatus, isEnded, type Session } from '../domain/session.ts';
import { reduce } from '../domain/turn/reduce.ts';
import type { TurnRecord, TurnStep } from '../domain/turn/turn.ts';
import type { InboxMessage, SessionStore } from '../ports/session-store.ts';
import { type AudiencePorts, openAudience } from './audience.ts';
import { commitUnleased } from './commit-unleased.ts';
import { type StopPorts, stopSandbox } from './stop-sandbox.ts';

export type EndPorts = AudiencePorts & StopPorts & { readonly sessions: SessionStore };

/** Messages that wait, and races with the turn's holder: more than this in one session is beyond its inbox. */
const cancelsMax = 1000;
/** A cancellation asks for nothing, so no limit can be met. */
const limits = { stepsMax: Number.MAX_SAFE_INTEGER, callsMax: Number.MAX_SAFE_INTEGER };

/** False when it had ended before. */
export const endSession = async (ports: EndPorts, id: SessionId, reason: string): Promise<boolean> => {
  for (let cancel = 0; cancel < cancelsMax; cancel += 1) if (!(await cancelNext(ports, id))) break;
  const found = await ports.sessions.get(id);
  if (found === undefined || isEnded(found.status)) return false;
  const ended = await ports.sessions.end(id, endedStatus(found.kind), ports.world.now());
  if (ended === undefined) return false;
  await say(ports, ended);
  const workspace = await ports.workspaces.leave(ended.workspace, id);
  if (workspace !== undefined && workspace.users.length === 0) await stopSandbox(ports, workspace, reason);
  return true;
};

/** Gives the running turn, or the oldest waiting message, its completion; false when there is none left. */
const cancelNext = async (ports: EndPorts, id: SessionId): Promise<boolean> => {
  const session = await ports.sessions.get(id);
  if (session === undefined || isEnded(session.status)) return false;
  const { turn, inbox } = await ports.sessions.loadWork(id);
  const { state } = turn;
  const isRunning = 'messageId' in state;
  const completed = isRunning ? inbox.find(({ messageId }) => messageId === state.messageId) : inbox[0];
  if (!isRunning && completed === undefined) return false;
  const at = ports.world.now();
  const step = isRunning
    ? reduce(state, { type: 'cancelled', at }, limits)
    : startedAndCancelled(turn, {
        message: completed as InboxMessage,
        at,
        turnId: ports.world.uuid() as TurnId,
      });
  await commitUnleased(ports, { session, turn, step, at, completed, wakes: false });
  return true;
};

const startedAndCancelled = (
  { state }: TurnRecord,
  { message, at, turnId }: { message: InboxMessage; at: number; turnId: TurnId },
): TurnStep => {
  const { messageId, text } = message;
  const policy = { mode: 'ask' as const, rememberedTools: [] };
  const started = reduce(
    state,
    { type: 'started', at, turnId, message: { messageId, text }, policy },
    limits,
  );
  const cancelled = reduce(started.state, { type: 'cancelled', at }, limits);
  return {
    state: cancelled.state,
    log: [...started.log, ...cancelled.log],
    history: [...started.history, ...cancelled.history],
  };
};

const say = async (ports: EndPorts, { id, status }: Session): Promise<void> => {
  const entry = { type: 'system' as const, data: { kind: 'session_status', status } };
  const events = (await ports.sessions.append(id, [entry], ports.world.now())) ?? [];
  await openAudience(ports, id).tell(events.map((event) => eventFrame(id, event)));
};
