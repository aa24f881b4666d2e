/**
 * Decides one waiting call. The decision is a transition of the turn under its version: made twice, or by
 * two people at once, it counts once.
 */
import type { CallId, SessionId } from '../domain/ids.ts';
import type { Session } from '../domain/session.ts';
import { pendingWork } from '../domain/turn/pending-work.ts';
import { reduce } from '../domain/turn/reduce.ts';
import type { TurnLimits, TurnRecord } from '../domain/turn/turn.ts';
import { AppError } from '../errors.ts';
import type { Invoker } from '../ports/invoker.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { AudiencePorts } from './audience.ts';
import { commitUnleased } from './commit-unleased.ts';

export type DecidePorts = AudiencePorts & { readonly sessions: SessionStore; readonly invoker: Invoker };

export type Decision = {
  readonly callId: string;
  readonly approved: boolean;
  readonly remember: boolean;
  readonly correlationId: string;
  /** A rejection may be the turn's last step. */
  readonly limits: TurnLimits;
};

const racesMax = 5;

export const decideCall = async (
  ports: DecidePorts,
  found: { readonly session: Session; readonly turn: TurnRecord },
  decision: Decision,
): Promise<void> => {
  let current: typeof found | undefined = found;
  for (let race = 0; race < racesMax && current !== undefined; race += 1) {
    if (await tryDecide(ports, current, decision)) return;
    current = await ports.sessions.getWithTurn(found.session.id);
  }
  throw notPending(found.session.id, decision.callId);
};

/** False when somebody else moved the turn meanwhile. */
const tryDecide = async (
  ports: DecidePorts,
  { session, turn }: { readonly session: Session; readonly turn: TurnRecord },
  { callId, approved, remember, correlationId, limits }: Decision,
): Promise<boolean> => {
  const at = ports.world.now();
  const event = { type: 'call-decided' as const, at, callId: callId as CallId, approved, remember };
  const step = reduce(turn.state, event, limits);
  if (step.ignored !== undefined) throw notPending(session.id, callId);
  const inbox = step.state.kind === 'done' ? (await ports.sessions.loadWork(session.id)).inbox : [];
  const completed = inbox.find(
    ({ messageId }) => 'messageId' in turn.state && messageId === turn.state.messageId,
  );
  const wakes = pendingWork(step.state).length > 0 || inbox.length > 1;
  const patch = {
    lastActiveAt: at,
    ...(step.state.kind === 'done' && !wakes ? { status: 'idle' as const } : {}),
  };
  if (!(await commitUnleased(ports, { session, turn, step, at, completed, patch, wakes }))) return false;
  if (wakes) await ports.invoker.runTurn(session.id, correlationId);
  return true;
};

const notPending = (sessionId: SessionId, callId: string): AppError =>
  new AppError('no_pending_tool_call', `No matching pending tool call: ${callId.slice(0, 64)}`, {
    context: { sessionId },
    suggestions: ['Approve the call that was offered last.'],
  });
