/**
 * Delegates calls to the clients that offered their tools, and to child sessions. Each is asked before the commit that
 * records that it waits, or in it; from then on the client or the child ends it. A client that has left fails its call at
 * once.
 */

import { requestToCaller, tooLargeToAsk } from '../../../contracts/caller-tools.ts';
import { type Caller, openCallers } from '../../../domain/caller-tool.ts';
import type { CallId } from '../../../domain/ids.ts';
import { callerAnswerMs } from '../../../domain/limits.ts';
import { type CallerRoute, type PlatformRoute, problemOfArgs } from '../../../domain/requested-call.ts';
import { isOffered } from '../../../domain/session.ts';
import { pendingWork } from '../../../domain/turn/pending-work.ts';
import { asksChild } from '../../../domain/turn/tool-call.ts';
import type { ToolEffect, TurnEvent } from '../../../domain/turn/turn.ts';
import type { ErrorCode } from '../../../errors.ts';
import type { Deps, LoopDeps } from '../../deps.ts';
import { runSessionTool } from '../children/session-tool.ts';
import { applyEvent } from '../commit/apply-event.ts';
import { type CommitOutcome, reloadRunning, type TurnContext } from '../holder/turn-context.ts';
import { cancelAll, childrenOf } from '../requests/cancel-turn.ts';

export type DelegatedCall = ToolEffect & { readonly route: CallerRoute | PlatformRoute };

export const isDelegated = (effect: ToolEffect): effect is DelegatedCall =>
  effect.route?.kind === 'caller' || asksChild(effect);

type Work = { readonly context: TurnContext };
type Delegation = { readonly calls: readonly DelegatedCall[]; readonly running: readonly CallId[] };

/** A call that is answered before the next is asked moves the turn: the others go on with the turn as it is then. */
export const delegateCalls = async (
  ports: LoopDeps,
  work: Work,
  { calls, running }: Delegation,
): Promise<CommitOutcome> => {
  let outcome: CommitOutcome = { status: 'current', context: work.context };
  for (const call of calls) {
    const { context }: CommitOutcome = outcome;
    outcome = await delegateOne(ports, { ...work, context }, { call, running });
    if (outcome.status !== 'current') return outcome;
  }
  return outcome;
};

const delegateOne = async (
  ports: LoopDeps,
  work: Work,
  { call, running }: { readonly call: DelegatedCall; readonly running: readonly CallId[] },
): Promise<CommitOutcome> => {
  let { context } = work;
  while (isOwed(context, call)) {
    const event = await eventFor(ports, { ...work, context }, call);
    if (event === undefined) return { status: 'lost', context };
    const outcome = await applyEvent(ports, context, { event });
    if (outcome.status !== 'moved') return outcome;
    const reloaded = await reloadRunning(ports, context, running);
    if (!isOwed(reloaded.context, call)) await cancelAsked(ports, work, call);
    if (reloaded.status !== 'current') return reloaded;
    context = reloaded.context;
  }
  return { status: 'current', context };
};

/** The caller that cancelled the turn may have looked for its children before this one was asked. */
const cancelAsked = async (ports: LoopDeps, { context }: Work, { route }: DelegatedCall): Promise<void> => {
  if (route.kind === 'platform') await cancelAll(ports, await childrenOf(ports, context.session));
};

const isOwed = ({ turn }: TurnContext, { callId }: DelegatedCall): boolean =>
  pendingWork(turn.state).some((effect) => effect.type === 'run-tool' && effect.callId === callId);

const eventFor = async (
  ports: LoopDeps,
  { context }: Work,
  call: DelegatedCall,
): Promise<TurnEvent | undefined> => {
  const { route } = call;
  if (!isOffered(context.session, call.name))
    return failed(ports, call, { code: 'not_found', message: `there is no tool ${call.name}` });
  const problem = problemOfArgs(call.args);
  if (problem !== undefined) return failed(ports, call, { code: 'invalid_request', message: problem });
  return route.kind === 'caller'
    ? askCaller(ports, context, { ...call, route })
    : runSessionTool(ports, { context, effect: call });
};

type CallerCall = DelegatedCall & { readonly route: CallerRoute };

const askCaller = async (
  ports: Deps<'turns' | 'world'>,
  context: TurnContext,
  call: CallerCall,
): Promise<TurnEvent> => {
  const { callId, route } = call;
  const caller = await callerOf(ports, context, call);
  if (caller?.tools.every(({ name }) => name !== route.tool) ?? true)
    return failed(ports, call, { code: 'not_found', message: `${route.caller} no longer offers it` });
  const at = ports.world.now();
  const requestId = ports.world.uuid();
  const request = requestToCaller(route, { ...call, requestId });
  if (request === undefined)
    return failed(ports, call, { code: 'payload_too_large', message: tooLargeToAsk });
  const wait = { id: requestId, since: at, until: at + callerAnswerMs };
  return { type: 'call-delegated', at, callId, wait, log: [request] };
};

/** One that has left since the turn was read may be back under another connection: it is read again. */
const callerOf = async (
  { turns }: Deps<'turns'>,
  { callers, publisher, session }: TurnContext,
  { route }: CallerCall,
): Promise<Caller | undefined> => {
  const isAsked = ({ callerId }: Caller): boolean => callerId === route.caller;
  const known = openCallers(callers, publisher.subscribers()).find(isAsked);
  if (known !== undefined) return known;
  const { callers: offered, subscribers } = await turns.loadWork(session.id);
  return openCallers(offered, subscribers).find(isAsked);
};

const failed = (
  { world }: Deps<'world'>,
  { callId }: DelegatedCall,
  { code, message }: { readonly code: ErrorCode; readonly message: string },
): TurnEvent => ({ type: 'call-failed', at: world.now(), callId, code, message });
