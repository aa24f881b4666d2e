/** One step of a turn: a model call, what children have answered, its tools, what is over its time, or the beginning of the next message's turn. */
import type { TurnId } from '../../domain/ids.ts';
import { pendingWork } from '../../domain/turn/pending-work.ts';
import type { Thinking, TurnEvent } from '../../domain/turn/turn.ts';
import { callModel } from './call-model.ts';
import { type Advance, advance, currentMessage, type Desk, isBetweenTurns } from './desk.ts';
import { expireWaits } from './expire-waits.ts';
import { reload } from './leave-turn.ts';
import { lookAtChildren } from './look-at-children.ts';
import { runTools } from './run-tools.ts';
import { saveTurn, saveTurnAgain } from './save-turn.ts';
import { giveBack } from './tree-budget.ts';
import type { Run, TurnPorts } from './turn-invocation.ts';
import { interruptedDesk, type TurnWatch } from './turn-watch.ts';

/** One step forward; undefined when nothing is pending. */
export const step = async (ports: TurnPorts, desk: Desk, run: Run): Promise<Desk | undefined> => {
  const { state } = desk.turn;
  const { limits } = run.settings;
  const message = isBetweenTurns(state) ? desk.inbox[0] : currentMessage(desk);
  const { correlationId } = message ?? run;
  run.follow?.(correlationId);
  if (state.kind === 'thinking') return think(ports, { desk, state }, run);
  // Before its own calls: who told of an answer before this lease was taken does not tell it again.
  const answered = await lookAtChildren(ports, desk, { limits, watch: run.watch });
  if (answered !== undefined) return answered;
  const tools = pendingWork(state).filter((effect) => effect.type === 'run-tool');
  const refresh = (current: Desk): Promise<Desk> => reload(ports, current, run);
  const going = { desk, limits, correlationId, watch: currentWatch(run), refresh };
  if (tools.length > 0) return runTools(ports, going, tools);
  const expired = await expireWaits(ports, desk, { limits, watch: run.watch });
  if (expired !== undefined) return expired;
  if (message === undefined || !isBetweenTurns(state)) return undefined;
  ports.telemetry.count('TurnsStarted');
  const { messageId, text } = message;
  ports.telemetry.info('a turn begins', { event: 'turn_started', sessionId: desk.session.id, messageId });
  const { approvals: mode, grants, costUsd: spentUsd } = desk.session;
  const event: TurnEvent = {
    type: 'started',
    at: ports.world.now(),
    turnId: ports.world.uuid() as TurnId,
    message: { messageId, text },
    policy: { mode, grants },
    spentUsd,
  };
  // A message that came after the features were seen may follow the first use of one.
  const seen = desk.seen !== undefined && desk.seen.at < message.acceptedAt ? undefined : desk.seen;
  return forward(ports, run, { desk: { ...desk, seen }, event });
};

type Asked = { readonly desk: Desk; readonly state: Thinking };

/** Money that was reserved for an answer that is not written goes back. */
const think = async (ports: TurnPorts, asked: Asked, run: Run): Promise<Desk> => {
  const { desk } = asked;
  try {
    const next = await answer(ports, asked, run);
    if (next.turn === desk.turn) await giveBack(ports, desk.session);
    return next;
  } catch (error) {
    await giveBack(ports, desk.session);
    if (run.watch.interruption() === undefined) throw error;
    return interruptedDesk(desk, run.watch);
  }
};

/** The model is asked while what the tools wrote is saved. */
const answer = async (ports: TurnPorts, { desk, state }: Asked, run: Run): Promise<Desk> => {
  const { limits, outputTokensMax } = run.settings;
  const { deadlineAt, watch } = run;
  const [event, { said, taken }] = await Promise.all([
    callModel(ports, { desk, state, limits, outputTokensMax, deadlineAt, signal: watch.signal }),
    saveTurn(ports, desk),
  ]);
  const { used: _, ...saved } = desk;
  const next = await forward(ports, run, { desk: saved, event, said, note: taken?.note });
  if (next.lease !== 'unsaved' || taken === undefined) return next;
  const saidAgain = await saveTurnAgain(ports, taken.sandbox);
  return forward(ports, run, { desk: saved, event, said: saidAgain });
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
