import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

test('the own token is found on whichever page it is listed', async () => {
  const own = { id: 't', name: 'ci', scope: 'admin', token: 'sp_a1a1a...a1a1' };
  await using there = await logIn({
    'GET /api/sessions': { body: { sessions: [] } },
    'GET /api/tokens': { body: { tokens: [{ ...own, token: 'sp_b2b2b...b2b2' }], next: 'x' } },
    'GET /api/tokens?after=x': { body: { tokens: [own] } },
  });
  expect((await there.run(['whoami'])).stdout).toMatch(/name +ci\nscope +admin\n$/);
});

test.each([
  ['http://localhost:9', false],
  ['http://127.0.0.1:9', false],
  ['http://localhost.a.invalid', true],
  ['http://127.a.invalid', true],
])('a token for %s: a warning that it can be read is given: %s', async (url, isWarned) => {
  await using there = await logIn({});
  const { stderr } = await there.run(['login', '--url', url, '--token', 't']);
  expect(stderr.includes('is not encrypted')).toBe(isWarned);
});
