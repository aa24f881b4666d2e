import { expect, test } from 'vitest';
import { lostWords } from './lost-words.ts';

test('the banner of a lost connection says whose it is, and what follows', () => {
  const nextAt = 1;
  expect(lostWords({ kind: 'busy', nextAt })).toMatchObject({
    what: 'The server is busy',
    next: 'trying again',
  });
  expect(lostWords({ kind: 'offline', isServer: false, nextAt })?.what).toBe("You're offline");
  expect(lostWords({ kind: 'offline', isServer: true, nextAt })?.what).toBe('The server does not answer');
  expect(lostWords({ kind: 'reconnecting', nextAt })).toMatchObject({ what: 'Reconnecting', next: '' });
  expect(lostWords({ kind: 'connected' })).toBeUndefined();
});
