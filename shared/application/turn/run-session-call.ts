/**
 * What an agent asks of its `session` tool: starts and asks its children, looks at them, ends them. Only its own
 * children are there for it; anything else is answered like a session that does not exist.
 */

import { decode } from '../../contracts/decode.ts';
import { type AgentSessionCall, agentSessionCall } from '../../contracts/tools/agent-session-tool.ts';
import type { LogEntry } from '../../domain/event-log.ts';
import type { JsonObject } from '../../domain/json.ts';
import { toolResultCharactersMax } from '../../domain/limits.ts';
import type { Session } from '../../domain/session.ts';
import { cutMiddle } from '../../domain/text.ts';
import { limitsInForceFor, type TreeLimits } from '../../domain/tree-limits.ts';
import type { TurnEvent } from '../../domain/turn/turn.ts';
import { AppError, isAppError } from '../../errors.ts';
import { sessionNotFound } from '../access/find-session.ts';
import { readEvents } from '../events/read-events.ts';
import { offerMessage } from './accept-message.ts';
import type { Desk } from './desk.ts';
import { type EndPorts, endSession } from './end-session.ts';
import type { ToolEffect } from './run-call.ts';
import { type Started, type StartPorts, startChild } from './start-child.ts';

export type SessionCallPorts = StartPorts & EndPorts;

export type SessionCall = {
  readonly desk: Desk;
  readonly effect: ToolEffect;
  /** The operator's. */
  readonly tree: Required<TreeLimits>;
  readonly idleMs: number;
  readonly correlationId: string;
};

type Ask<Action extends AgentSessionCall['action']> = {
  readonly call: SessionCall;
  readonly asked: Extract<AgentSessionCall, { action: Action }>;
};

type Moved = Extract<TurnEvent, { type: 'call-handed' | 'call-finished' | 'call-failed' }>;

const eventsShownMax = 100;

/** Undefined when the desk is another's by now. */
export const runSessionCall = async (
  ports: SessionCallPorts,
  call: SessionCall,
): Promise<Moved | undefined> => {
  const { callId, args } = call.effect;
  try {
    const decoded = decode(agentSessionCall, args);
    if (!decoded.ok) throw new AppError('invalid_request', decoded.problem);
    return await act(ports, call, decoded.value);
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { code, message, details } = error;
    const advice = [message, ...(details.suggestions ?? [])].join('. ');
    return { type: 'call-failed', at: ports.world.now(), callId, code, message: advice };
  }
};

const act = async (
  ports: SessionCallPorts,
  call: SessionCall,
  asked: AgentSessionCall,
): Promise<Moved | undefined> => {
  switch (asked.action) {
    case 'spawn':
      return spawn(ports, { call, asked });
    case 'message':
      return say(ports, { call, asked });
    case 'get':
      return finished(ports, call, inShort(await childOf(ports, call, asked.session_id)));
    case 'list': {
      const { id, tree: family } = call.desk.session;
      const tree = await ports.sessions.descendants(family?.root ?? id);
      const own = tree.filter((session) => session.tree?.parent === id);
      return finished(ports, call, { sessions: own.map(inShort) });
    }
    case 'events': {
      const child = await childOf(ports, call, asked.session_id);
      const page = { since: asked.since_index, eventsMax: eventsShownMax };
      const { events, lastIndex, hasMore } = await readEvents(ports.sessions, child, page);
      const shown = events.map(({ index, type, at, data }) => ({
        index,
        type,
        at,
        data: data as JsonObject,
      }));
      return finished(ports, call, { events: shown, last_index: lastIndex, has_more: hasMore });
    }
    case 'end': {
      const child = await childOf(ports, call, asked.session_id);
      const { correlationId } = call;
      const ended = await endSession(ports, child, { reason: 'its parent ended it', correlationId });
      return finished(ports, call, { session_id: child.id, ended });
    }
  }
};

const spawn = async (ports: SessionCallPorts, { call, asked }: Ask<'spawn'>): Promise<Moved | undefined> => {
  const { desk, effect, tree, idleMs, correlationId } = call;
  const { state } = desk.turn;
  const { session: parent } = desk;
  const { prompt, model, workspace, wait } = asked;
  const policy = 'policy' in state ? state.policy : { mode: parent.approvals, grants: [] };
  const limits = limitsInForceFor(parent, tree);
  const birth = { parent, policy, key: effect.key, prompt, model, workspace, limits, idleMs, correlationId };
  const started = await startChild(ports, birth);
  return started && waitFor(ports, call, { started, wait });
};

const say = async (ports: SessionCallPorts, { call, asked }: Ask<'message'>): Promise<Moved> => {
  const { effect, correlationId } = call;
  const { session_id: id, prompt: text, model, wait } = asked;
  const child = await childOf(ports, call, id);
  const message = { text, messageId: effect.key, model, correlationId, slotsMax: Number.MAX_SAFE_INTEGER };
  const { messageId, result } = await offerMessage(ports, child, message);
  if (result === 'ended')
    throw new AppError('invalid_session_state', `session ${id} is ${child.status}`, {
      suggestions: ['Start another: action spawn.'],
    });
  return waitFor(ports, call, { started: { session: child.id, message: messageId }, wait });
};

const waitFor = (
  ports: SessionCallPorts,
  call: SessionCall,
  { started, wait }: { readonly started: Started; readonly wait: boolean },
): Moved => {
  const { callId } = call.effect;
  const at = ports.world.now();
  if (!wait) return finished(ports, call, { session_id: started.session });
  const data = { kind: 'child_asked', callId, sessionId: started.session };
  const said: readonly LogEntry[] = [{ type: 'system', data }];
  const given = { id: started.message, since: at, child: started };
  return { type: 'call-handed', at, callId, wait: given, said };
};

const childOf = async (
  { sessions }: SessionCallPorts,
  { desk }: SessionCall,
  id: string,
): Promise<Session> => {
  const child = await sessions.get(id as Session['id']);
  if (child?.tree?.parent === desk.session.id) return child;
  throw sessionNotFound();
};

const inShort = ({ id, status, model, depth, costUsd, lastSeq }: Session): JsonObject => ({
  session_id: id,
  status,
  model,
  depth,
  cost_usd: costUsd,
  last_index: lastSeq,
});

const finished = (
  { world }: SessionCallPorts,
  { effect: { callId } }: SessionCall,
  result: JsonObject,
): Moved => {
  const text = cutMiddle(JSON.stringify(result), toolResultCharactersMax);
  const at = world.now();
  return { type: 'call-finished', at, callId, content: [{ type: 'text', text }], text, durationMs: 0 };
};
