/** The janitor's look at a session that tries a call: one that its turn has left ends, one that is tried or awaited stays. */
import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { lifetimes, openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { CallId, MessageId, SessionId, TurnId } from '../../domain/ids.ts';
import { trialWatchMs } from '../../domain/limits.ts';
import type { CallTrial } from '../../domain/turn/trial.ts';
import type { TurnState } from '../../domain/turn/turn.ts';
import { sweep } from './sweep-in-rounds.ts';

const trying = 'trying' as SessionId;

/** A turn whose call waits, with this trial; without one the turn has been cancelled. */
const stateOf = (trial: CallTrial | undefined): TurnState => {
  if (trial === undefined) return { kind: 'done', turnId: 't' as TurnId, stopReason: 'cancelled' };
  const call = {
    ...{ callId: 'c' as CallId, name: 'execute_command', args: {}, askedHuman: true },
    ...{ digest: 'd', askedAt: 'then', status: 'pending' as const, trial },
  };
  return {
    ...{ kind: 'deciding', turnId: 't' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
    ...{ usage: { inputTokens: 0, outputTokens: 0 }, policy: { mode: 'effect', grants: [] } },
    calls: [call],
  };
};

const sweptWith = async (trial: CallTrial | undefined) => {
  const { ports, clock } = openQuietPorts();
  const parent = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
  await ports.sessions.create(parent, { workspace: workspaceOf(parent) });
  const own = newSession({
    ...{ id: trying, kind: 'execution' as const, status: 'ready' as const, trialOf: parent.id },
    ...{ createdAt: clock.now, lastActiveAt: clock.now, dueAt: clock.now + trialWatchMs },
    runningCalls: { key: clock.now + 3_600_000 },
  });
  await ports.sessions.create(own, { workspace: workspaceOf(own) });
  await ports.turns.commit({
    ...{ session: parent, version: 0, state: stateOf(trial), at: clock.now, log: [], history: [] },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0 },
    ...{ release: true, wakes: false, dueAt: 1e15 },
  });
  clock.now += trialWatchMs;
  await sweep(ports, { lifetimes });
  const { status, dueAt } = (await ports.sessions.get(trying)) ?? {};
  return { status, isPutOff: (dueAt ?? 0) > clock.now };
};

test.each([
  ['whose call is tried there', 'ready', { state: 'due', session: trying }],
  ['whose call is tried in another by now', 'stopped', { state: 'due', session: 'another' as SessionId }],
  ['whose turn was cancelled', 'stopped', undefined],
] as const)('a session %s is %s after a minute', async (_, status, trial) => {
  expect(await sweptWith(trial)).toEqual({ status, isPutOff: true });
});
