/**
 * Runs a call of the `session` tool: an agent starts its children, sends them messages, looks at them and ends them. A session
 * that is not its own child is answered like one that does not exist.
 */

import { withoutAbsent } from '../../../contracts/absent-arguments.ts';
import { decode } from '../../../contracts/decode.ts';
import { networkOf } from '../../../contracts/rest/network.ts';
import { type AgentSessionCall, agentSessionCall } from '../../../contracts/tools/agent-session-tool.ts';
import { partOf } from '../../../contracts/tools/slice-fields.ts';
import { childSandbox } from '../../../domain/child-sandbox.ts';
import type { LogEntry } from '../../../domain/event-log.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { toolResultCharactersMax } from '../../../domain/limits.ts';
import { type Session, totalsOf } from '../../../domain/session.ts';
import { limitsInForceFor } from '../../../domain/session-tree.ts';
import { cutMiddle } from '../../../domain/text.ts';
import { policyOf } from '../../../domain/turn/approval-policy.ts';
import type { ToolEffect, TurnEvent } from '../../../domain/turn/turn.ts';
import { AppError, isAppError } from '../../../errors.ts';
import { sessionNotFound } from '../../access/find-session.ts';
import type { Deps, MessageDeps, SandboxDeps } from '../../deps.ts';
import { readEvents } from '../../events/read-events.ts';
import { knownTemplate } from '../../sandbox/known-template.ts';
import type { TurnContext } from '../holder/turn-context.ts';
import { offerMessage } from '../requests/accept-message.ts';
import { endSession } from '../requests/end-session.ts';
import { refuseUnpriced } from './child-model.ts';
import { type SpawnedChild, spawnChild } from './spawn-child.ts';

export type SessionToolCall = {
  readonly context: TurnContext;
  readonly effect: ToolEffect;
};

type Ask<Action extends AgentSessionCall['action']> = {
  readonly call: SessionToolCall;
  readonly asked: Extract<AgentSessionCall, { action: Action }>;
};

type ToolDeps = SandboxDeps & Deps<'modelPrices' | 'trees'>;

type CallEvent = Extract<TurnEvent, { type: 'call-delegated' | 'call-finished' | 'call-failed' }>;

const eventsShownMax = 100;

/** Undefined when another invocation holds the lease by now. */
export const runSessionTool = async (
  ports: ToolDeps,
  call: SessionToolCall,
): Promise<CallEvent | undefined> => {
  const { callId, args } = call.effect;
  try {
    const contract = agentSessionCall();
    const decoded = decode(contract, withoutAbsent(contract, args));
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
  ports: ToolDeps,
  call: SessionToolCall,
  asked: AgentSessionCall,
): Promise<CallEvent | undefined> => {
  switch (asked.action) {
    case 'spawn':
      return spawn(ports, { call, asked });
    case 'message':
      return message(ports, { call, asked });
    case 'get':
      return finished(ports, call, summaryOf(await childOf(ports, call, asked.session_id)));
    case 'list': {
      const { id, tree } = call.context.session;
      const descendants = await ports.sessions.descendants(tree?.root ?? id);
      const own = descendants.filter((session) => session.tree?.parent === id);
      return finished(ports, call, { sessions: own.map(summaryOf) });
    }
    case 'events': {
      const child = await childOf(ports, call, asked.session_id);
      const page = { since: asked.since_index, eventsMax: eventsShownMax };
      const { events, lastIndex, hasMore } = await readEvents(ports.eventLog, child, page);
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
      const ended = await endSession(ports, child, { reason: 'its parent ended it' });
      return finished(ports, call, { session_id: child.id, ended });
    }
  }
};

const spawn = async (ports: ToolDeps, { call, asked }: Ask<'spawn'>): Promise<CallEvent | undefined> => {
  const { context, effect } = call;
  const { tree, idleMs, templates } = context.limits;
  const { state } = context.turn;
  const { session: parent } = context;
  const { prompt, model, workspace, wait, template, flavor, env } = asked;
  refuseUnpriced(ports, { caller: parent }, model);
  const network = asked.network && networkOf(asked.network);
  if (template !== undefined) knownTemplate(template, templates);
  const sandbox = childSandbox(parent, { template, flavor, env, network });
  if (!sandbox.ok) throw new AppError('invalid_request', sandbox.problem);
  const policy = 'policy' in state ? state.policy : { ...policyOf(parent), grants: [] };
  const limits = limitsInForceFor(parent, tree);
  const request = {
    parent,
    policy,
    instructions: context.instructions,
    key: effect.key,
    prompt,
    model,
    workspace,
    sandbox: sandbox.sandbox,
    limits,
    idleMs,
    part: partOf(asked),
  };
  const started = await spawnChild(ports, request);
  return started && waitFor(ports, call, { started, wait });
};

const message = async (
  ports: MessageDeps & Deps<'modelPrices'>,
  { call, asked }: Ask<'message'>,
): Promise<CallEvent> => {
  const { effect } = call;
  const { session_id: id, prompt: text, model, wait } = asked;
  const child = await childOf(ports, call, id);
  refuseUnpriced(ports, { caller: call.context.session, child }, model);
  const offer = { text, messageId: effect.key, model };
  const { messageId, result } = await offerMessage(ports, child, offer);
  if (result === 'ended')
    throw new AppError('invalid_session_state', `session ${id} is ${child.status}`, {
      suggestions: ['Start another: action spawn.'],
    });
  return waitFor(ports, call, { started: { session: child.id, message: messageId }, wait });
};

const waitFor = (
  ports: MessageDeps,
  call: SessionToolCall,
  { started, wait }: { readonly started: SpawnedChild; readonly wait: boolean },
): CallEvent => {
  const { callId } = call.effect;
  const at = ports.world.now();
  if (!wait) return finished(ports, call, { session_id: started.session });
  const data = { kind: 'child_asked', callId, sessionId: started.session };
  const log: readonly LogEntry[] = [{ type: 'system', data }];
  const given = { id: started.message, since: at, child: started };
  return { type: 'call-delegated', at, callId, wait: given, log };
};

const childOf = async (
  { sessions }: MessageDeps,
  { context }: SessionToolCall,
  id: string,
): Promise<Session> => {
  const child = await sessions.get(id as Session['id']);
  if (child?.tree?.parent === context.session.id) return child;
  throw sessionNotFound();
};

const summaryOf = (session: Session): JsonObject => {
  const { id, status, model, depth, lastSeq } = session;
  return {
    session_id: id,
    status,
    model,
    depth,
    cost_usd: totalsOf(session).costUsd,
    last_index: lastSeq,
  };
};

const finished = (
  { world }: MessageDeps,
  { effect: { callId } }: SessionToolCall,
  result: JsonObject,
): CallEvent => {
  const text = cutMiddle(JSON.stringify(result), toolResultCharactersMax);
  const at = world.now();
  return { type: 'call-finished', at, callId, content: [{ type: 'text', text }], text, durationMs: 0 };
};
