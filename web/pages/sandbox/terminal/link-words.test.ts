import { expect, test } from 'vitest';
import { connectionLost } from '#sdk/errors.ts';
import { exitWords, linkWords } from './link-words.ts';

const lost = { kind: 'lost', failures: 3, nextAt: 0, isBusy: false, isBlocked: false } as const;

test('a terminal says whether its connection comes back by itself, or that a proxy keeps it from opening', () => {
  expect(linkWords({ kind: 'connected' }, true)).toBe(undefined);
  expect(linkWords({ kind: 'ended', error: connectionLost() }, true)).toBe('the connection was lost');
  expect(linkWords(lost, true)).toMatch(/^Connection lost/);
  const blocked = { ...lost, isBlocked: true };
  expect(linkWords(blocked, true)).toMatch(/^The WebSocket does not open/);
  // The first tries may meet a restart.
  for (const words of [linkWords({ ...blocked, failures: 1 }, true), linkWords(blocked, false)])
    expect(words).toMatch(/^Connection lost/);
});

test.each([
  [{ exitCode: 0 }, /exit code 0\.$/],
  [{ exitCode: 137, isLost: true }, /^The sandbox has stopped, and the terminal ended/],
  [{ exitCode: 0, isOutputLost: true }, /output that was not shown is lost\.$/],
] as const)('a terminal that ended with %j says what became of it', (exit, words) => {
  expect(exitWords(exit)).toMatch(words);
});
