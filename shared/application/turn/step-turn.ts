/** One step of a turn: a model call, its tools, what is over its time, or the beginning of the next message's turn. */
import type { TurnId } from '../../domain/ids.ts';
import { pendingWork } from '../../domain/turn/pending-work.ts';
import type { Thinking, TurnEvent } from '../../domain/turn/turn.ts';
import { callModel } from './call-model.ts';
import { type Advance, advance, type Desk, isBetweenTurns } from './desk.ts';
import { expireWaits } from './expire-waits.ts';
import { reload } from './leave-turn.ts';
import { runTools } from './run-tools.ts';
import { saveTurn, saveTurnAgain } from './save-turn.ts';
import type { Run, TurnPorts } from './turn-invocation.ts';
import { interruptedDesk, type TurnWatch } from './turn-watch.ts';

/** One step forward; undefined when nothing is pending. */
export const step = async (ports: TurnPorts, desk: Desk, run: Run): Promise<Desk | undefined> => {
  const { state } = desk.turn;
  const { settings, correlationId } = run;
  const { limits } = settings;
  if (state.kind === 'thinking') return think(ports, { desk, state }, run);
  const tools = pendingWork(state).filter((effect) => effect.type === 'run-tool');
  const refresh = (current: Desk): Promise<Desk> => reload(ports, current, run);
  const going = { desk, limits, correlationId, watch: currentWatch(run), refresh };
  if (tools.length > 0) return runTools(ports, going, tools);
  const expired = await expireWaits(ports, desk, { limits, watch: run.watch });
  if (expired !== undefined) return expired;
  const message = isBetweenTurns(state) ? desk.inbox[0] : undefined;
  if (message === undefined) return undefined;
  ports.telemetry.count('TurnsStarted');
  const { messageId, text } = message;
  const { approvals: mode, rememberedTools, costUsd: spentUsd } = desk.session;
  const event: TurnEvent = {
    type: 'started',
    at: ports.world.now(),
    turnId: ports.world.uuid() as TurnId,
    message: { messageId, text },
    policy: { mode, rememberedTools },
    spentUsd,
  };
  return forward(ports, run, { desk, event });
};

/** The model is asked while what the tools wrote is saved. */
const think = async (
  ports: TurnPorts,
  { desk, state }: { readonly desk: Desk; readonly state: Thinking },
  run: Run,
): Promise<Desk> => {
  const { limits, outputTokensMax } = run.settings;
  try {
    const [event, { said, taken }] = await Promise.all([
      callModel(ports, { desk, state, limits, outputTokensMax, signal: run.watch.signal }),
      saveTurn(ports, desk),
    ]);
    const { used: _, ...saved } = desk;
    const next = await forward(ports, run, { desk: saved, event, said, note: taken?.note });
    if (next.lease !== 'unsaved' || taken === undefined) return next;
    const saidAgain = await saveTurnAgain(ports, taken.sandbox);
    return await forward(ports, run, { desk: saved, event, said: saidAgain });
  } catch (error) {
    if (run.watch.interruption() === undefined) throw error;
    return interruptedDesk(desk, run.watch);
  }
};

/** Whichever watch is the newest: reading the turn again begins a new one. */
const currentWatch = (run: Run): TurnWatch => ({
  get signal() {
    return run.watch.signal;
  },
  interruption: () => run.watch.interruption(),
  expect: (version) => run.watch.expect(version),
  resume: (version) => run.watch.resume(version),
  hasTimeFor: (milliseconds) => run.watch.hasTimeFor(milliseconds),
  interrupt: (why) => run.watch.interrupt(why),
  stop: () => run.watch.stop(),
});

const forward = async (
  ports: TurnPorts,
  { settings, watch }: Run,
  going: Pick<Advance, 'desk' | 'event' | 'said' | 'note'>,
): Promise<Desk> => {
  watch.expect(going.desk.turn.version + 1);
  return advance(ports, { ...going, limits: settings.limits });
};
