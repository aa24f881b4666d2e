/** Commits the end of each running call as it comes, until all have ended or the turn is interrupted. */
import type { LogEntry } from '../domain/event-log.ts';
import type { CallId } from '../domain/ids.ts';
import { reduce } from '../domain/turn/reduce.ts';
import type { ToolProgress } from '../ports/sandbox-tools.ts';
import { advance, type Desk, type DeskLimits, type DeskPorts, type UsedSandbox } from './desk.ts';
import type { EndedCall } from './run-call.ts';
import type { SandboxEntry } from './sandbox-entry.ts';
import { livingSandbox, saveTurnAgain } from './save-turn.ts';
import type { SavePorts } from './save-workspace.ts';
import type { TextRelay } from './text-relay.ts';
import { interruptedDesk, type TurnWatch } from './turn-watch.ts';

export type CollectPorts = DeskPorts & SavePorts;

export type ToolWork = {
  readonly desk: Desk;
  readonly limits: DeskLimits;
  readonly correlationId: string;
  readonly watch: TurnWatch;
  readonly entry: SandboxEntry;
  readonly relay: TextRelay<`${CallId} ${ToolProgress['stream']}`>;
};

export const collectEnds = async (
  ports: CollectPorts,
  { desk: first, limits, watch, entry, relay }: ToolWork,
  running: Map<CallId, Promise<EndedCall>>,
): Promise<Desk> => {
  let desk = first;
  const interrupted = untilAborted(watch.signal);
  while (running.size > 0) {
    const ended = await Promise.race([...running.values(), interrupted]);
    if (ended === undefined) return interruptedDesk(desk, watch);
    running.delete(ended.callId);
    await relay.flush();
    const event = withNotice(ended, entry.takeNotice());
    const used = entry.used();
    // The turn may not ask the model again, where it would be saved: its completion comes next.
    const isLast = reduce(desk.turn.state, event, limits.turn).state.kind === 'done';
    const saved = isLast ? await saveLast(ports, desk, used) : [];
    watch.expect(desk.turn.version + 1);
    const next = used === undefined ? desk : { ...desk, used };
    desk = await advance(ports, { desk: next, event, limits, said: [...entry.takeSaid(), ...saved] });
    if (desk.lease === 'left' || desk.lease === 'moved') return desk;
  }
  return desk;
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
