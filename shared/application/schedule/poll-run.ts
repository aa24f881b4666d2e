/**
 * The state of a running run, read from its session: still open, or with its end. It writes nothing, so that
 * showing a history may poll, too.
 */

import { oldestKept } from '../../domain/event-log.ts';
import { eventsPerSessionMax } from '../../domain/limits.ts';
import {
  move,
  nextLook,
  type Outcome,
  type Run,
  type RunEvent,
  readOutcome,
} from '../../domain/schedule/run.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import type { Deps } from '../deps.ts';

/**
 * `over`: its session, when it was made for this run alone and has received no message since. `open`: its session, while the run has
 * not ended.
 */
export type Look = { readonly run: Run; readonly over?: Session; readonly open?: Session };

export const pollRun = async (ports: PollDeps, run: Run): Promise<Look> => {
  const { session: id, message } = run;
  if (run.state !== 'running' || id === undefined || message === undefined) return { run };
  const asked = { ...run, session: id, message };
  const session = await ports.sessions.get(id);
  if (session === undefined) return { run: lost(ports, run, 'its session was deleted') };
  const outcome = await outcomeOf(ports, asked, session);
  if (outcome.kind === 'ended') {
    const isOver = run.isAlone && outcome.isLast && !isEnded(session.status);
    return { run: asEnded(run, outcome), ...(isOver ? { over: session } : {}) };
  }
  if (isEnded(session.status)) return { run: lost(ports, run, 'its session ended') };
  if (!outcome.hasBegun && outcome.isForgotten)
    return { run: lost(ports, run, 'the log of its session no longer has its end') };
  const begun = outcome.hasBegun ? { hasBegun: true as const, since: outcome.since } : {};
  return { run: { ...run, ...begun, dueAt: nextLook(run, ports.world.now()) }, open: session };
};

/** True when its message is in its session: it waits there, or its turn has begun. */
export const hasSpoken = async (ports: PollDeps, run: Run): Promise<boolean> => {
  const { session: id, message } = run;
  const session = id && (await ports.sessions.get(id));
  if (!session || message === undefined) return false;
  const asked = { ...run, session: session.id, message };
  const outcome = await outcomeOf(ports, asked, session);
  return outcome.kind === 'ended' || outcome.hasBegun || isWaiting(ports, asked);
};

type PollDeps = Deps<'sessions' | 'turns' | 'eventLog' | 'world'>;
type Asked = Run & Required<Pick<Run, 'session' | 'message'>>;
type Ended = Extract<Outcome, { kind: 'ended' }>;
type Open = Extract<Outcome, { kind: 'open' }> & { readonly isForgotten: boolean };

/** Where the ring has dropped the events after the message, the inbox decides whether the message still waits. */
const outcomeOf = async (ports: PollDeps, run: Asked, { lastSeq }: Session): Promise<Ended | Open> => {
  const { session, message, since = -1, hasBegun = false } = run;
  const from = Math.max(since, oldestKept(lastSeq) - 1);
  const read = async (): Promise<Outcome> => {
    const page = { since: from, eventsMax: eventsPerSessionMax };
    const { events } = await ports.eventLog.read(session, page);
    return readOutcome(events, { message, hasBegun, since });
  };
  const first = await read();
  if (first.kind === 'ended') return first;
  if (first.hasBegun || from <= since || (await isWaiting(ports, run)))
    return { ...first, isForgotten: false };
  // It may have ended between the two reads.
  const second = await read();
  return second.kind === 'ended' ? second : { ...second, isForgotten: true };
};

const asEnded = (run: Run, { event, startedAt = run.startedAt, endedAt, output, problem }: Ended): Run =>
  end(run, event, {
    endedAt,
    output,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(problem === undefined ? {} : { problem }),
  });

/** A message stays in the inbox until it is completed. */
const isWaiting = async ({ turns }: PollDeps, { session, message }: Asked): Promise<boolean> => {
  const { inbox } = await turns.loadWork(session);
  return inbox.some(({ messageId }) => messageId === message);
};

const lost = ({ world }: PollDeps, run: Run, problem: string): Run =>
  end(run, 'lost', { endedAt: world.now(), problem });

type Ending = Pick<Run, 'endedAt' | 'startedAt' | 'output' | 'problem'>;

/** The run with its end; a run that had ended before stays as it was (J5). */
export const end = (run: Run, event: RunEvent, ending: Ending): Run => {
  const state = move(run.state, event);
  if (state === undefined) return run;
  const { dueAt: _, ...rest } = run;
  return { ...rest, ...ending, state };
};
