import { expect, test } from 'vitest';
import { type FileLink, opens } from './file-link.ts';
import type { ProjectId, SessionId } from './ids.ts';
import { projectPrincipal } from './principal.ts';

const read: FileLink = {
  principal: projectPrincipal('p' as ProjectId),
  sessionId: 's' as SessionId,
  path: 'a',
  method: 'GET',
  expiresAt: 100,
};
const write: FileLink = { ...read, method: 'PUT' };

test('a link opens for its method until it expires, and one that writes once', () => {
  expect(opens(read, { method: 'GET', now: 99 })).toBe(true);
  expect(opens(read, { method: 'HEAD', now: 99 })).toBe(true);
  expect(opens(read, { method: 'GET', now: 100 })).toBe(false);
  expect(opens(read, { method: 'PUT', now: 0 })).toBe(false);
  expect(opens(write, { method: 'PUT', now: 0 })).toBe(true);
  expect(opens({ ...write, usedAt: 1 }, { method: 'PUT', now: 2 })).toBe(false);
  expect(opens(write, { method: 'GET', now: 0 })).toBe(false);
  expect(opens(write, { method: 'HEAD', now: 0 })).toBe(false);
});
