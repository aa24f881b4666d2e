import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

test('the name and the scope of a token are shown to the one who has it, by one request', async () => {
  await using there = await logIn({ 'GET /api/access': { body: { scope: 'project:p', name: 'ci' } } });
  expect((await there.run(['whoami'])).stdout).toMatch(/name +ci\nscope +project:p\n$/);
  expect(there.fake.asked.map(({ route }) => route)).toEqual(['GET /api/access']);
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
