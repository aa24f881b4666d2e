/** The running calls of a session, which are the detached calls of its turn, and the end of its last turn. */
import { expect, test } from 'vitest';
import type { CallId, MessageId, TurnId } from '../ids.ts';
import type { Session } from '../session.ts';
import { reduce } from './reduce.ts';
import { afterHeldStep, afterStep, spendOf } from './session-after-step.ts';
import type { ToolCall } from './tool-call.ts';
import type { Acting, EventOf } from './turn.ts';

const acting = (wait?: ToolCall['wait']): Acting => ({
  ...{ kind: 'acting', turnId: 't' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
  ...{ usage: { inputTokens: 0, outputTokens: 0 }, policy: { mode: 'ask', grants: [] } },
  calls: [
    {
      ...{
        callId: 'c' as CallId,
        name: 'execute_command',
        args: {},
        digest: '',
        askedAt: '',
        askedHuman: false,
      },
      ...{ status: 'executing', generation: 1 },
      ...(wait === undefined ? {} : { wait }),
    },
  ],
});
const key = 'tool:t:1:c';
const sessionWith = (runningCalls: Session['runningCalls']) => ({ kind: 'agent', runningCalls }) as Session;
const step = (state: Acting) => ({ state, log: [], history: [] });

test('a detached call counts as running until it has ended', () => {
  const detached = acting({ id: key, since: 1, endsBy: 90 });
  expect(afterStep(sessionWith({}), acting(), step(detached))).toEqual({ runningCalls: { [key]: 90 } });
  expect(afterStep(sessionWith({ [key]: 90 }), detached, step(detached))).toEqual({});
  expect(afterStep(sessionWith({ [key]: 90 }), detached, step(acting()))).toEqual({ runningCalls: {} });
});

test.each([undefined, { id: 'r', since: 1, until: 60 }])(
  'a call that waits for nobody or for a client (%j) writes nothing more',
  (wait) => {
    expect(afterStep(sessionWith({}), acting(), step(acting(wait)))).toEqual({});
  },
);

test.each(['end_turn', 'error', 'cancelled'] as const)(
  'a turn that ends with %s leaves its reason to its session',
  (stopReason) => {
    const usage = { inputTokens: 1, outputTokens: 2 };
    const data = { turnId: 't' as TurnId, stopReason, text: '', usage, sessionCostUsd: 0 };
    const ended = {
      state: { kind: 'done', turnId: 't' as TurnId, stopReason },
      log: [{ type: 'completion', data }],
    } as const;
    const session = { ...sessionWith({}), usage, costUsd: 0 };
    expect(afterStep(session, acting(), ended)).toMatchObject({ lastStopReason: stopReason });
  },
);

test('the withdrawal of a grant that ends the turn leaves it to no later one', () => {
  const by = { kind: 'person' as const, id: 'ada' };
  const grants = ['kept', 'withdrawn'].map((id) => ({
    id,
    tool: 'execute_command',
    identity: 'i',
    by,
    at: 1,
  }));
  const [call] = acting().calls;
  if (call === undefined) throw new Error('there is no call');
  const ended = { ...call, callId: 'd' as CallId, status: 'completed' as const };
  const before: Acting = {
    ...acting(),
    policy: { mode: 'ask', grants },
    calls: [{ ...call, status: 'approved', grant: 'withdrawn' }, ended],
  };
  const limits = { stepsMax: 1, callsMax: 9, usdMax: 9 };
  const withdrawn = reduce(before, { type: 'grant-withdrawn', at: 2, grantId: 'withdrawn' }, limits);
  expect(withdrawn.state).toMatchObject({ kind: 'done', stopReason: 'steps_exceeded' });
  const session = { ...sessionWith({}), usage: { inputTokens: 0, outputTokens: 0 } };
  expect(afterStep(session, before, withdrawn).grants?.map(({ id }) => id)).toEqual(['kept']);
});

test('calls of a program that carries a turn are spent of its slices, and leave reservations alone (TM9)', () => {
  const event = { type: 'runtime-moved', toolCalls: 2 } as EventOf<'runtime-moved'>;
  const child = { id: 'c', tree: { root: 'r', parent: 'r', slices: ['c'] } } as unknown as Session;
  expect(spendOf(child, event)).toEqual({
    ...{ root: 'r', slices: ['c'], usd: 0, toolCalls: 2, isUnreserved: true },
  });
  expect(spendOf(child, { ...event, toolCalls: 0 })).toBeUndefined();
  expect(spendOf({ id: 'c', hasChildren: true } as Session, event)).toBeUndefined();
});

test.each([
  [5, 9, 9],
  [9, 5, 9],
])('a step leaves the newer sign of life: one at %i, and the step at %i', (lastActiveAt, at, newest) => {
  const session = { ...sessionWith({}), lastActiveAt, title: 'mine', grants: [] } as unknown as Session;
  const event = {
    type: 'calls-started',
    at,
    callIds: [],
    generation: 1,
  } as unknown as EventOf<'calls-started'>;
  const change = afterHeldStep(session, acting(), { event, step: step(acting()), isInboxEmpty: true });
  expect(change.lastActiveAt).toBe(newest);
});
