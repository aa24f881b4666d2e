/**
 * Ends a session: its running turn is completed as cancelled, then it is marked ended, then its sandbox is
 * asked to stop unless another session of the workspace still uses it.
 */
import { eventFrame } from '../contracts/frames.ts';
import type { SessionId } from '../domain/ids.ts';
import { endedStatus, isEnded, type Session } from '../domain/session.ts';
import { reduce } from '../domain/turn/reduce.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { type AudiencePorts, openAudience } from './audience.ts';
import { type StopPorts, stopSandbox } from './stop-sandbox.ts';

export type EndPorts = AudiencePorts & StopPorts & { readonly sessions: SessionStore };

const racesMax = 5;

/** False when it had ended before. */
export const endSession = async (ports: EndPorts, id: SessionId, reason: string): Promise<boolean> => {
  for (let race = 0; race < racesMax; race += 1) if (await cancelTurn(ports, id)) break;
  const found = await ports.sessions.get(id);
  if (found === undefined || isEnded(found.status)) return false;
  const ended = await ports.sessions.end(id, endedStatus(found.kind), ports.world.now());
  if (ended === undefined) return false;
  await say(ports, ended);
  const workspace = await ports.workspaces.leave(ended.workspace, id);
  if (workspace !== undefined && workspace.users.length === 0) await stopSandbox(ports, workspace, reason);
  return true;
};

/** True when no turn runs any more; false when somebody moved it meanwhile. */
const cancelTurn = async (ports: EndPorts, id: SessionId): Promise<boolean> => {
  const found = await ports.sessions.getWithTurn(id);
  if (found === undefined || isEnded(found.session.status)) return true;
  const { session, turn } = found;
  const at = ports.world.now();
  const step = reduce(
    turn.state,
    { type: 'cancelled', at },
    { stepsMax: session.workSeq + 1000, callsMax: 1000 },
  );
  if (step.ignored !== undefined) return true;
  const result = await ports.sessions.commitTurn({
    session,
    version: turn.version,
    state: step.state,
    historyNext: turn.historyNext,
    at,
    log: step.log,
    history: step.history,
    release: false,
    wakes: false,
    dueAt: at,
  });
  if (result.status === 'stale') return false;
  await openAudience(ports, id).tell(result.events.map((event) => eventFrame(id, event)));
  return true;
};

const say = async (ports: EndPorts, { id, status }: Session): Promise<void> => {
  const entry = { type: 'system' as const, data: { kind: 'session_status', status } };
  const events = (await ports.sessions.append(id, [entry], ports.world.now())) ?? [];
  await openAudience(ports, id).tell(events.map((event) => eventFrame(id, event)));
};
