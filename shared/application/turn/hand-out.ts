/**
 * Gives calls to whom they are for: to the clients that offered their tools, and to child sessions. Each is asked before
 * the commit that says that it waits, or in it, and from then on somebody outside ends it. A client that is gone fails
 * its call at once.
 */
import type { CallerRoute, PlatformRoute } from '../../domain/asked-call.ts';
import { callerAnswerMs } from '../../domain/caller-tool.ts';
import type { LogEntry } from '../../domain/event-log.ts';
import type { CallId } from '../../domain/ids.ts';
import { isOffered } from '../../domain/session.ts';
import { pendingWork } from '../../domain/turn/pending-work.ts';
import type { TurnEvent } from '../../domain/turn/turn.ts';
import type { World } from '../../ports/world.ts';
import { cancelChildren } from './cancel-tree.ts';
import { readAgain, type ToolWork } from './collect-ends.ts';
import { advance, type Desk, isHeld } from './desk.ts';
import type { ToolEffect } from './run-call.ts';
import { runSessionCall, type SessionCallPorts } from './run-session-call.ts';

export type HandPorts = SessionCallPorts;

export type HandedCall = ToolEffect & { readonly route: CallerRoute | PlatformRoute };

export const isHandedOut = (effect: ToolEffect): effect is HandedCall =>
  effect.route?.kind === 'caller' || effect.route?.kind === 'platform';

type Handing = { readonly calls: readonly HandedCall[]; readonly running: readonly CallId[] };

/** One that was answered before the next was asked moves the turn: the others go on with what it is now. */
export const handOut = async (
  ports: HandPorts,
  work: ToolWork,
  { calls, running }: Handing,
): Promise<Desk> => {
  let { desk } = work;
  for (const call of calls) {
    desk = await handOne(ports, { ...work, desk }, { call, running });
    if (!isHeld(desk)) return desk;
  }
  return desk;
};

const handOne = async (
  ports: HandPorts,
  work: ToolWork,
  { call, running }: { readonly call: HandedCall; readonly running: readonly CallId[] },
): Promise<Desk> => {
  let { desk } = work;
  while (isHeld(desk) && isOwed(desk, call)) {
    const event = await eventFor(ports, { ...work, desk }, call);
    if (event === undefined) return { ...desk, lease: 'left' };
    work.watch.expect(desk.turn.version + 1);
    const next = await advance(ports, { desk, event, limits: work.limits });
    if (next.lease !== 'moved') return next;
    desk = await readAgain(work, desk, running);
    if (!isOwed(desk, call)) await takeBack(ports, work, call);
  }
  return desk;
};

/** Whoever cancelled the turn may have looked for its children before this one was asked. */
const takeBack = async (
  ports: HandPorts,
  { desk, correlationId }: ToolWork,
  { route }: HandedCall,
): Promise<void> => {
  if (route.kind === 'platform') await cancelChildren(ports, desk.session, correlationId);
};

const isOwed = ({ turn }: Desk, { callId }: HandedCall): boolean =>
  pendingWork(turn.state).some((effect) => effect.type === 'run-tool' && effect.callId === callId);

const eventFor = async (
  ports: HandPorts,
  { desk, limits, correlationId }: ToolWork,
  call: HandedCall,
): Promise<TurnEvent | undefined> => {
  const { route } = call;
  const { tree, idleMs } = limits;
  if (!isOffered(desk.session, call.name)) return notThere(ports, call, `there is no tool ${call.name}`);
  return route.kind === 'caller'
    ? askCaller(ports, desk, { ...call, route })
    : runSessionCall(ports, { desk, effect: call, tree, idleMs, correlationId });
};

const askCaller = (
  ports: { readonly world: World },
  { callers }: Desk,
  call: HandedCall & { readonly route: CallerRoute },
): TurnEvent => {
  const { callId, route, args } = call;
  const caller = callers.find(({ callerId }) => callerId === route.caller);
  if (caller?.tools.every(({ name }) => name !== route.tool) ?? true)
    return notThere(ports, call, `${route.caller} does not offer it any more`);
  const at = ports.world.now();
  const requestId = ports.world.uuid();
  const said: readonly LogEntry[] = [
    { type: 'caller_tool:request', data: { requestId, name: route.tool, args } },
  ];
  const wait = { id: requestId, since: at, until: at + callerAnswerMs };
  return { type: 'call-handed', at, callId, wait, said };
};

const notThere = (
  { world }: { readonly world: World },
  { callId }: HandedCall,
  message: string,
): TurnEvent => ({ type: 'call-failed', at: world.now(), callId, code: 'not_found', message });
