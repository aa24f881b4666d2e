import { expect, test } from 'vitest';
import { connectionLost } from '#sdk/errors.ts';
import { linkWords } from './link-words.ts';

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
