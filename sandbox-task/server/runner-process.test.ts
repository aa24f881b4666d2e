/** One call on a runner: its end, and what comes after it. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Answer, followCall, type RunnerProcess } from './runner-process.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new Promise<void>(() => undefined);

const openRunner = (send: RunnerProcess['send'] = () => undefined) => {
  const listeners = new Map<number, (answer: Answer) => void>();
  const killed: string[] = [];
  const runner: RunnerProcess = {
    ...{ ready: never, ended: never, hasEnded: () => false, send },
    listen: (id, { onAnswer }) => {
      listeners.set(id, onAnswer);
      return () => listeners.delete(id);
    },
    kill: (why) => killed.push(why),
  };
  const answer = (id: number): void =>
    listeners.get(id)?.({ message: { type: 'done', id }, payload: Buffer.alloc(0) });
  return { runner, listeners, killed, answer };
};

const follow = (runner: RunnerProcess) =>
  followCall(runner, 1, {
    request: { type: 'remove', id: 1, path: 'a' },
    ...{ payload: undefined, timeoutMs: 1000, killMsMax: 12_000 },
    onPiece: () => false,
  });

test('a runner that loses a call is killed', () => {
  const { runner, killed } = openRunner();
  follow(runner);
  vi.advanceTimersByTime(13_000);
  expect(killed).toEqual(['a call did not end in time']);
});

test('the kill of a call that has ended costs the runner nothing', async () => {
  const { runner, killed, answer } = openRunner();
  const { ended, kill } = follow(runner);
  answer(1);
  await ended;
  kill('cancelled');
  vi.advanceTimersByTime(60_000);
  expect(killed).toEqual([]);
});

test('a request that cannot be sent fails alone', async () => {
  const { runner, killed, listeners } = openRunner(() => {
    throw new Error('a frame header of 300000 bytes');
  });
  await expect(follow(runner).ended).rejects.toThrow('a frame header of 300000 bytes');
  vi.advanceTimersByTime(60_000);
  expect([killed, listeners.size]).toEqual([[], 0]);
});
