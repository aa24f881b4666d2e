/**
 * Runs a session's turns: takes the lease, does what is pending, and leaves when there is nothing to do.
 *
 * May be invoked twice, late, or for nothing; it may die at any line. Whoever comes next reads the same
 * state and goes on. A holder that finds nothing to do tells the audience the newest events again, since
 * its predecessor may have died between its commit and telling. Near the end of its function's time it hands
 * over to another invocation, between two commits.
 */
import type { Session } from '../../domain/session.ts';
import { firstDeadline } from '../../domain/turn/pending-work.ts';
import { openAudience } from '../events/audience.ts';
import type { Desk } from './desk.ts';
import { holdLease } from './hold-lease.ts';
import { handOver, leave, reload } from './leave-turn.ts';
import { step } from './step-turn.ts';
import type { Run, TurnInvocation, TurnPorts } from './turn-invocation.ts';
import { watchTurn } from './turn-watch.ts';
import { wakeParent } from './wake-parent.ts';

/** What a function needs to hand over, in milliseconds. */
const handoverMs = 20_000;

/**
 * Comes back for calls that nobody outside ends in their time: it sleeps without the lease, so that an answer finds the
 * turn free and costs nobody anything. Where its own time does not reach, the janitor does.
 */
export const runTurn = async (ports: TurnPorts, invocation: TurnInvocation): Promise<void> => {
  const lastWake = invocation.deadlineAt - handoverMs;
  for (;;) {
    const deadline = await holdTurn(ports, invocation);
    if (deadline === undefined || deadline >= lastWake) return;
    await ports.world.sleep(Math.max(0, deadline - ports.world.now()));
  }
};

/** When the first call that somebody outside ends is over its time; undefined when none is left waiting. */
const holdTurn = async (ports: TurnPorts, invocation: TurnInvocation): Promise<number | undefined> => {
  const { sessionId, settings } = invocation;
  const at = ports.world.now();
  const lease = { holder: ports.world.uuid(), at, until: at + settings.leaseMs };
  const session = await ports.sessions.takeLease(sessionId, lease);
  if (session === undefined) {
    ports.telemetry.count('LeasesContended');
    return undefined;
  }
  const desk = await layOut(ports, session, invocation);
  const watch = watchTurn(ports, {
    sessionId,
    version: desk.turn.version,
    audience: desk.audience,
    startedAt: at,
    handoverAt: invocation.deadlineAt - handoverMs,
  });
  const run: Run = { ...invocation, watch };
  const held = holdLease(ports, session, {
    leaseMs: settings.leaseMs,
    onLost: () => run.watch.interrupt('lost'),
  });
  try {
    const left = await work(ports, desk, run);
    return left && firstDeadline(left.turn.state);
  } finally {
    held.stop();
    run.watch.stop();
  }
};

const layOut = async (ports: TurnPorts, session: Session, { seen }: TurnInvocation): Promise<Desk> => {
  const { watchers, ...loaded } = await ports.sessions.loadWork(session.id);
  return { session, ...loaded, seen, audience: openAudience(ports, session, watchers), lease: 'held' };
};

type Progress = { readonly before: Desk; readonly after: Desk | undefined; readonly isIdle: boolean };

/** Of a turn that has ended; or of one found ended, since who ended it may have died before its parent heard. */
const tellParent = async (
  ports: TurnPorts,
  { correlationId }: Run,
  { before, after, isIdle }: Progress,
): Promise<void> => {
  const wasDone = before.turn.state.kind === 'done';
  const isNews = after === undefined ? isIdle && wasDone : !wasDone && after.turn.state.kind === 'done';
  if (isNews) await wakeParent(ports, before.session, correlationId);
};

/** The desk as it was left; undefined when another invocation goes on. */
const work = async (ports: TurnPorts, first: Desk, run: Run): Promise<Desk | undefined> => {
  let desk = first;
  let isIdle = true;
  while (desk.lease !== 'left') {
    if (desk.lease === 'reload' || desk.lease === 'moved') desk = await reload(ports, desk, run);
    if (run.watch.interruption() === 'deadline') {
      await handOver(ports, desk, run);
      return undefined;
    }
    const next = desk.lease === 'held' ? await step(ports, desk, run) : desk;
    await tellParent(ports, run, { before: desk, after: next, isIdle });
    if (next === undefined) {
      if (await leave(ports, desk, { run, isIdle })) return desk;
      desk = await reload(ports, desk, run);
    } else {
      desk = next;
      isIdle = false;
    }
  }
  return desk;
};
