import { expect, test } from 'vitest';
import type { CallId, MessageId, SessionId, TurnId } from '../ids.ts';
import {
  callsWithCallers,
  detachedCalls,
  firstDeadline,
  nextChildLook,
  nextLook,
  pendingWork,
} from './pending-work.ts';
import type { CallStatus, ToolCall } from './tool-call.ts';

const running = {
  turnId: 'turn-1' as TurnId,
  messageId: 'question' as MessageId,
  step: 2,
  usage: { inputTokens: 0, outputTokens: 0 },
  spentUsd: 0,
  policy: { mode: 'ask', grants: [] },
} as const;

const call = (status: CallStatus): ToolCall => ({
  callId: status as string as CallId,
  name: 'shell',
  args: { line: 'true' },
  status,
  askedHuman: true,
  digest: 'd',
  askedAt: 'then',
  ...(status === 'executing' ? { generation: 4 } : {}),
});

test('an idle turn, or one that waits for a person, has no pending work', () => {
  expect(pendingWork({ kind: 'idle' })).toEqual([]);
  expect(pendingWork({ kind: 'done', turnId: running.turnId, stopReason: 'end_turn' })).toEqual([]);
  expect(pendingWork({ ...running, kind: 'deciding', calls: [call('approved'), call('pending')] })).toEqual(
    [],
  );
});

test('a thinking turn has one model call pending, named by its step', () => {
  expect(pendingWork({ ...running, kind: 'thinking' })).toEqual([
    { type: 'call-model', key: 'model:turn-1:2', step: 2 },
  ]);
});

test('an acting turn has its approved and executing calls pending', () => {
  const owed: Record<CallStatus, boolean> = {
    pending: false,
    approved: true,
    rejected: false,
    executing: true,
    completed: false,
    failed: false,
  };
  const calls = (Object.keys(owed) as CallStatus[]).map(call);
  const keys = pendingWork({ ...running, kind: 'acting', calls }).map(({ key }) => key);
  expect(keys).toEqual(['tool:turn-1:2:approved', 'tool:turn-1:2:executing']);
});

test('a delegated call is not pending, and the first deadline is known', () => {
  const waiting = (id: string, until: number): ToolCall => ({
    ...call('executing'),
    callId: id as CallId,
    generation: 0,
    wait: { id, since: 1, until },
  });
  const calls = [waiting('one', 900), call('approved'), waiting('two', 500), call('completed')];
  const acting = { ...running, kind: 'acting' as const, calls };
  expect(pendingWork(acting).map(({ key }) => key)).toEqual(['tool:turn-1:2:approved']);
  expect(callsWithCallers(acting).map(({ wait }) => wait.id)).toEqual(['one', 'two']);
  expect([firstDeadline(acting), firstDeadline({ ...running, kind: 'thinking' })]).toEqual([500, undefined]);
});

test('a detached call is not pending, and is looked at soon, under its key', () => {
  const wait = { id: 'tool:turn-1:2:executing', since: 1, endsBy: 90_000 };
  const state = { ...running, kind: 'acting' as const, calls: [{ ...call('executing'), wait }] };
  expect(pendingWork(state)).toEqual([]);
  expect(detachedCalls(state)).toMatchObject([{ key: wait.id, callId: 'executing', generation: 4, wait }]);
  expect([callsWithCallers(state), firstDeadline(state)]).toEqual([[], undefined]);
  expect(nextLook(state, 1000, { idleMs: 900_000, waitStopMs: 900_000 })).toBe(16_000);
});

test('a turn that waits for a child is checked after a minute, then less and less often', () => {
  const child = { session: 's' as SessionId, message: 'm' as MessageId };
  const waiting = (since: number): ToolCall => ({ ...call('executing'), wait: { id: 'w', since, child } });
  const looksAfter = (...since: readonly number[]): number | undefined => {
    const state = { ...running, kind: 'acting' as const, calls: since.map(waiting) };
    const look = nextChildLook(state, 10_000_000);
    return look && look - 10_000_000;
  };
  expect(looksAfter(10_000_000)).toBe(60_000);
  expect(looksAfter(9_600_000)).toBe(200_000);
  expect(looksAfter(9_599_999)).toBe(200_001);
  expect(looksAfter(0)).toBe(600_000);
  expect(looksAfter(0, 10_000_000)).toBe(60_000);
  expect(looksAfter()).toBeUndefined();
});

test('a running call names the sandbox it was started in', () => {
  expect(pendingWork({ ...running, kind: 'acting', calls: [call('executing')] })).toEqual([
    {
      type: 'run-tool',
      key: 'tool:turn-1:2:executing',
      callId: 'executing',
      name: 'shell',
      args: { line: 'true' },
      generation: 4,
    },
  ]);
});
