/**
 * Runs a queue's approved calls, all in parallel, each failure its own: in one sandbox, and outside of it those
 * of registered servers on the network.
 *
 * Before a call starts the turn records where. If that place is gone when somebody comes back to the call, its
 * outcome is unknown and said so, and the call is never run again. A call outside ends with this function, so
 * it is begun only where there is time for it.
 */
import { unnumberedFrame } from '../../contracts/frames.ts';
import type { CallId } from '../../domain/ids.ts';
import { remoteCallMsMax } from '../../domain/limits.ts';
import { isOffered } from '../../domain/session.ts';
import { utf8Bytes } from '../../domain/text.ts';
import { outsideSandbox } from '../../domain/turn/turn.ts';
import { isAppError } from '../../errors.ts';
import type { ToolProgress } from '../../ports/sandbox-tools.ts';
import { openTextRelay, type TextRelay } from '../events/text-relay.ts';
import type { AcquirePorts } from '../sandbox/acquire-sandbox.ts';
import { type CollectPorts, collectEnds, type ToolWork } from './collect-ends.ts';
import { advance, type Desk, isHeld } from './desk.ts';
import { type HandedCall, type HandPorts, handOut, isHandedOut } from './hand-out.ts';
import { isOutside, type RunCallPorts, runCall, type ToolEffect, unknownOutcome } from './run-call.ts';
import { openEntry } from './sandbox-entry.ts';
import { interruptedDesk } from './turn-watch.ts';

export type ToolPorts = AcquirePorts & CollectPorts & RunCallPorts & HandPorts;

export const runTools = async (
  ports: ToolPorts,
  given: Omit<ToolWork, 'entry' | 'relay'>,
  effects: readonly ToolEffect[],
): Promise<Desk> => {
  const outside = effects.filter(isOutside);
  if (outside.length > 0 && !given.watch.hasTimeFor(remoteCallMsMax)) {
    given.watch.interrupt('deadline');
    return given.desk;
  }
  const { workspace: workspaceId, flavor, template, allowSmallerFlavor } = given.desk.session;
  const { correlationId, watch } = given;
  const wanted = { workspaceId, flavor, template, allowSmallerFlavor, correlationId, signal: watch.signal };
  const entry = openEntry(ports, wanted);
  const relay = progressRelay(ports, given.desk);
  try {
    const inside = effects.filter((effect) => !isOutside(effect) && !isHandedOut(effect));
    const handed = effects.filter(isHandedOut);
    return await perform(ports, { ...given, entry, relay }, { outside, inside, handed });
  } finally {
    await entry.leave();
  }
};

type Queue = {
  readonly outside: readonly ToolEffect[];
  readonly inside: readonly ToolEffect[];
  readonly handed: readonly HandedCall[];
};

const perform = async (
  ports: ToolPorts,
  work: ToolWork,
  { outside, inside, handed }: Queue,
): Promise<Desk> => {
  const kill = new AbortController();
  const left = new AbortController();
  const start = (signal: AbortSignal) => (effect: ToolEffect) => {
    const ended = runCall(ports, callOf(work, effect, signal));
    // It is waited for once all have begun: one that fails before that must not end the process.
    ended.catch(() => undefined);
    return [effect.callId, ended] as const;
  };
  try {
    const sent = await begin(ports, work, { effects: outside, generation: outsideSandbox });
    if (!isHeld(sent)) return sent;
    const running = new Map(outside.map(start(AbortSignal.any([kill.signal, left.signal]))));
    const begun = await enter(ports, { ...work, desk: sent }, inside);
    if (!isHeld(begun)) return begun;
    if (work.watch.interruption() !== undefined) return interruptedDesk(begun, work.watch);
    const entered = work.entry.used() === undefined ? [] : inside;
    for (const [callId, ended] of entered.map(start(kill.signal))) running.set(callId, ended);
    // Last, since an answer moves the turn: until then who moves it cancels it.
    const asked = await handOut(
      ports,
      { ...work, desk: begun },
      { calls: handed, running: [...running.keys()] },
    );
    if (!isHeld(asked)) return asked;
    const desk = await collectEnds(ports, { ...work, desk: asked }, running);
    // Somebody cancelled the turn: its programs end with it. Another holder would go on with them.
    if (desk.lease === 'moved') kill.abort();
    return desk;
  } finally {
    // Nobody else can take over a call outside.
    left.abort();
  }
};

/** Into the sandbox, where the calls inside are recorded as started; what cannot be had fails all of them. */
const enter = async (ports: ToolPorts, work: ToolWork, effects: readonly ToolEffect[]): Promise<Desk> => {
  if (effects.length === 0) return work.desk;
  try {
    const { sandbox } = await work.entry.enter();
    return await begin(ports, work, { effects, generation: sandbox.generation });
  } catch (error) {
    if (error === work.watch.signal.reason) return interruptedDesk(work.desk, work.watch);
    if (!isAppError(error)) throw error;
    return failAll(ports, work, { effects, code: error.code, message: error.message });
  }
};

/** Records where the calls start, before they do. */
const begin = async (
  ports: ToolPorts,
  { desk, limits, watch, entry }: ToolWork,
  { effects, generation }: { readonly effects: readonly ToolEffect[]; readonly generation: number },
): Promise<Desk> => {
  const callIds = effects.filter((effect) => effect.generation === undefined).map(({ callId }) => callId);
  if (callIds.length === 0) return desk;
  const event = { type: 'calls-started' as const, at: ports.world.now(), callIds, generation };
  watch.expect(desk.turn.version + 1);
  return advance(ports, { desk, event, limits, said: entry.takeSaid() });
};

const failAll = async (
  ports: ToolPorts,
  { desk, limits, watch }: ToolWork,
  { effects, ...failure }: { effects: readonly ToolEffect[]; code: string; message: string },
): Promise<Desk> => {
  let current = desk;
  for (const { callId, generation } of effects) {
    const { code, message } = generation === undefined ? failure : unknownOutcome;
    const event = { type: 'call-failed' as const, at: ports.world.now(), callId, code, message };
    watch.expect(current.turn.version + 1);
    current = await advance(ports, { desk: current, event, limits });
    if (!isHeld(current)) return current;
  }
  return current;
};

type Relay = TextRelay<`${CallId} ${ToolProgress['stream']}`>;

const progressRelay = ({ world }: ToolPorts, { audience, session }: Desk): Relay =>
  openTextRelay({ audience, world, lengthOf: utf8Bytes }, (key, piece) => {
    const [callId = '', stream = ''] = key.split(' ');
    const data = { callId, stream, ...piece };
    return unnumberedFrame('tool:progress', { sessionId: session.id, at: world.now(), data });
  });

const callOf = ({ desk, entry, relay, correlationId }: ToolWork, effect: ToolEffect, signal: AbortSignal) => {
  const onProgress = ({ stream, offset, text }: ToolProgress): void =>
    relay.push(`${effect.callId} ${stream}`, { offset, text });
  const isAllowed = isOffered(desk.session, effect.name);
  return { effect, project: desk.session.project, isAllowed, entry, correlationId, onProgress, signal };
};
