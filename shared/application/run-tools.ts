/**
 * Runs a queue's approved calls: one sandbox, all calls in parallel, each failure its own.
 *
 * Before the first call starts the turn records in which sandbox generation: if that sandbox is gone when
 * somebody comes back to the call, its outcome is unknown and said so, and the call is never run again.
 */
import { unnumberedFrame } from '../contracts/frames.ts';
import { startEntries, startNotice } from '../contracts/sandbox-start.ts';
import type { LogEntry } from '../domain/event-log.ts';
import type { CallId } from '../domain/ids.ts';
import type { LiveSandbox, Workspace } from '../domain/sandbox.ts';
import { utf8Bytes } from '../domain/text.ts';
import { reduce } from '../domain/turn/reduce.ts';
import { isAppError } from '../errors.ts';
import type { ToolProgress } from '../ports/sandbox-tools.ts';
import { type AcquirePorts, acquireSandbox } from './acquire-sandbox.ts';
import { advance, type Desk, type DeskLimits, type DeskPorts } from './desk.ts';
import { type EndedCall, type RunCallPorts, runCall, type ToolEffect, unknownOutcome } from './run-call.ts';
import { saveTurnAgain } from './save-turn.ts';
import { keepSaving, type SavePorts } from './save-workspace.ts';
import { openTextRelay, type TextRelay } from './text-relay.ts';
import type { TurnWatch } from './turn-watch.ts';

export type ToolPorts = AcquirePorts & SavePorts & DeskPorts & RunCallPorts;

type Work = {
  readonly desk: Desk;
  readonly limits: DeskLimits;
  readonly correlationId: string;
  readonly watch: TurnWatch;
};
type Inside = Work & {
  readonly sandbox: LiveSandbox;
  readonly workspace: Workspace;
  readonly said: readonly LogEntry[];
  /** What the model must know of the sandbox before it reads a result. */
  readonly notice: string | undefined;
};

export const runTools = async (
  ports: ToolPorts,
  work: Work,
  effects: readonly ToolEffect[],
): Promise<Desk> => {
  const { workspace: workspaceId, flavor, template, allowSmallerFlavor } = work.desk.session;
  const { correlationId } = work;
  const { signal } = work.watch;
  const wanted = { workspaceId, flavor, template, allowSmallerFlavor, correlationId, signal };
  try {
    const { sandbox, workspace, start } = await acquireSandbox(ports, wanted);
    const said = start === undefined ? [] : startEntries(start);
    const notice = start === undefined ? undefined : startNotice(start);
    return await runInside(ports, { ...work, sandbox, workspace, said, notice }, effects);
  } catch (error) {
    if (error === work.watch.signal.reason) return interruptedDesk(work.desk, work.watch);
    if (!isAppError(error)) throw error;
    return failAll(ports, work, { effects, code: error.code, message: error.message });
  }
};

const failAll = async (
  ports: ToolPorts,
  { desk, limits, watch }: Work,
  { effects, code, message }: { effects: readonly ToolEffect[]; code: string; message: string },
): Promise<Desk> => {
  let current = desk;
  for (const { callId, generation } of effects) {
    const [sayCode, sayMessage] = generation === undefined ? [code, message] : unknownOutcome;
    const at = ports.world.now();
    const event = { type: 'call-failed' as const, at, callId, code: sayCode, message: sayMessage };
    watch.expect(current.turn.version + 1);
    current = await advance(ports, { desk: current, event, limits });
    if (current.lease === 'left' || current.lease === 'moved') return current;
  }
  return current;
};

const runInside = async (ports: ToolPorts, work: Inside, effects: readonly ToolEffect[]): Promise<Desk> => {
  const { sandbox, workspace } = work;
  const begun = await begin(ports, work, effects);
  if (begun.lease !== 'held' && begun.lease !== 'reload') return begun;
  const kill = new AbortController();
  const relay = progressRelay(ports, begun);
  const running = new Map(
    effects.map((effect) => {
      const onProgress = ({ stream, offset, text }: ToolProgress): void =>
        relay.push(`${effect.callId} ${stream}`, { offset, text });
      const { correlationId } = work;
      const call = { effect, sandbox, correlationId, onProgress, signal: kill.signal };
      return [effect.callId, runCall(ports, call)];
    }),
  );
  const saving = keepSaving(ports, sandbox);
  try {
    const desk = await collect(
      ports,
      { ...work, desk: { ...begun, used: { sandbox, workspace } } },
      { running, relay },
    );
    // Somebody cancelled the turn: its programs end with it. Another holder would go on with them.
    if (desk.lease === 'moved') kill.abort();
    return desk;
  } finally {
    await saving.stop();
  }
};

/** Records in which sandbox the calls start, before they do. */
const begin = async (ports: ToolPorts, work: Inside, effects: readonly ToolEffect[]): Promise<Desk> => {
  const { desk, sandbox, said, limits, watch } = work;
  const callIds = effects.filter(({ generation }) => generation === undefined).map(({ callId }) => callId);
  if (callIds.length === 0) return desk;
  const { generation } = sandbox;
  const event = { type: 'calls-started' as const, at: ports.world.now(), callIds, generation };
  watch.expect(desk.turn.version + 1);
  return advance(ports, { desk, event, limits, said });
};

type Relay = TextRelay<`${CallId} ${ToolProgress['stream']}`>;

const progressRelay = ({ world }: ToolPorts, { audience, session }: Desk): Relay =>
  openTextRelay({ audience, world, lengthOf: utf8Bytes }, (key, piece) => {
    const [callId = '', stream = ''] = key.split(' ');
    const data = { callId, stream, ...piece };
    return unnumberedFrame('tool:progress', { sessionId: session.id, at: world.now(), data });
  });

type Collecting = { readonly running: Map<CallId, Promise<EndedCall>>; readonly relay: Relay };

/** Each call's end is committed as it comes, until all have ended or the turn is interrupted. */
const collect = async (
  ports: ToolPorts,
  { desk: first, limits, notice: firstNotice, watch, sandbox }: Inside,
  { running, relay }: Collecting,
): Promise<Desk> => {
  let desk = first;
  let notice = firstNotice;
  const interrupted = untilAborted(watch.signal);
  while (running.size > 0) {
    const ended = await Promise.race([...running.values(), interrupted]);
    if (ended === undefined) return interruptedDesk(desk, watch);
    running.delete(ended.callId);
    await relay.flush();
    const event = withNotice(ended, notice);
    notice = undefined;
    // The turn may not ask the model again, where it would be saved: its completion comes next.
    const isLast = reduce(desk.turn.state, event, limits.turn).state.kind === 'done';
    const said = isLast ? await saveTurnAgain(ports, sandbox) : [];
    watch.expect(desk.turn.version + 1);
    desk = await advance(ports, { desk, event, limits, said });
    if (desk.lease === 'left' || desk.lease === 'moved') return desk;
  }
  return desk;
};

const untilAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

/** The calls go on in the sandbox: whoever comes next asks for them under the same keys. */
const interruptedDesk = (desk: Desk, watch: TurnWatch): Desk => {
  const why = watch.interruption();
  return { ...desk, lease: why === 'lost' ? 'left' : why === 'moved' ? 'moved' : 'held' };
};

const withNotice = (event: EndedCall, notice: string | undefined): EndedCall => {
  if (notice === undefined) return event;
  return event.type === 'call-finished'
    ? { ...event, text: `${notice}\n${event.text}` }
    : { ...event, message: `${event.message} ${notice}` };
};
