/** Commits the end of each running call as it comes, until all have ended or the turn is interrupted. */
import type { LogEntry } from '../../domain/event-log.ts';
import type { CallId } from '../../domain/ids.ts';
import { withOwnMoney } from '../../domain/tree-limits.ts';
import { pendingWork } from '../../domain/turn/pending-work.ts';
import { reduce } from '../../domain/turn/reduce.ts';
import type { TurnState } from '../../domain/turn/turn.ts';
import type { ToolProgress } from '../../ports/sandbox-tools.ts';
import type { TextRelay } from '../events/text-relay.ts';
import type { SavePorts } from '../sandbox/save-workspace.ts';
import { advance, type Desk, type DeskLimits, type DeskPorts, isHeld, type UsedSandbox } from './desk.ts';
import type { EndedCall } from './run-call.ts';
import type { SandboxEntry } from './sandbox-entry.ts';
import { livingSandbox, saveTurnAgain } from './save-turn.ts';
import { interruptedDesk, type TurnWatch } from './turn-watch.ts';

export type CollectPorts = DeskPorts & SavePorts;

export type ToolWork = {
  readonly desk: Desk;
  readonly limits: DeskLimits;
  readonly correlationId: string;
  readonly watch: TurnWatch;
  /** Reads the turn again, and watches what was read. */
  readonly refresh: (desk: Desk) => Promise<Desk>;
  readonly entry: SandboxEntry;
  readonly relay: TextRelay<`${CallId} ${ToolProgress['stream']}`>;
};

export const collectEnds = async (
  ports: CollectPorts,
  work: ToolWork,
  running: Map<CallId, Promise<EndedCall>>,
): Promise<Desk> => {
  const { watch, entry, relay } = work;
  let { desk } = work;
  while (running.size > 0) {
    const ended = await Promise.race([...running.values(), untilAborted(watch.signal)]);
    if (ended === undefined) {
      if (watch.interruption() !== 'moved') return interruptedDesk(desk, watch);
      desk = await readAgain(work, desk, [...running.keys()]);
    } else {
      running.delete(ended.callId);
      await relay.flush();
      const event = withNotice(ended, entry.takeNotice());
      desk = await commitEnd(ports, { ...work, desk }, { event, others: [...running.keys()] });
    }
    if (!isHeld(desk)) return desk;
  }
  return desk;
};

type End = { readonly event: EndedCall; readonly others: readonly CallId[] };

/** Committed on what another wrote meanwhile, if the call and its neighbours still run there. */
const commitEnd = async (ports: CollectPorts, work: ToolWork, { event, others }: End): Promise<Desk> => {
  const { limits, watch, entry } = work;
  let { desk } = work;
  const said = entry.takeSaid();
  for (;;) {
    const used = entry.used();
    const isLast = mayBeLast(reduce(desk.turn.state, event, withOwnMoney(limits.turn, desk.session)).state);
    const saved = isLast ? await saveLast(ports, desk, used) : [];
    watch.expect(desk.turn.version + 1);
    const next = used === undefined ? desk : { ...desk, used };
    const committed = await advance(ports, { desk: next, event, limits, said: [...said, ...saved] });
    if (committed.lease !== 'moved') return committed;
    desk = await readAgain(work, desk, [event.callId, ...others]);
    if (!isHeld(desk)) return desk;
  }
};

/**
 * The model may not be asked again, where the workspace would be saved: the completion comes next, or an answer from
 * outside that brings it.
 */
const mayBeLast = (state: TurnState): boolean =>
  state.kind === 'done' || (state.kind === 'acting' && pendingWork(state).length === 0);

/** Somebody outside ended a call, or somebody cancelled the turn: then these calls do not run in it any more. */
export const readAgain = async (
  { refresh }: Pick<ToolWork, 'refresh'>,
  { used, ...desk }: Desk,
  running: readonly CallId[],
): Promise<Desk> => {
  const fresh = await refresh(desk);
  const { state } = fresh.turn;
  const runs = (callId: CallId): boolean =>
    state.kind === 'acting' &&
    state.calls.some(
      (call) => call.callId === callId && call.status === 'executing' && call.wait === undefined,
    );
  if (!isHeld(fresh)) return fresh;
  return running.every(runs)
    ? { ...fresh, ...(used === undefined ? {} : { used }) }
    : { ...fresh, lease: 'moved' };
};

/** What was done inside may have been done by the holder before, with only calls outside left to this one. */
const saveLast = async (
  ports: CollectPorts,
  desk: Desk,
  used: UsedSandbox | undefined,
): Promise<readonly LogEntry[]> => {
  const { sandbox } = used ?? (await livingSandbox(ports, desk)) ?? {};
  return sandbox === undefined ? [] : saveTurnAgain(ports, sandbox);
};

const untilAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

/** What the model must know of the sandbox before it reads a result. */
const withNotice = (event: EndedCall, notice: string | undefined): EndedCall => {
  if (notice === undefined) return event;
  return event.type === 'call-finished'
    ? { ...event, text: `${notice}\n${event.text}` }
    : { ...event, message: `${event.message} ${notice}` };
};
