import { expect, test } from 'vitest';
import { refusal } from '../fixtures/fake-deployment.ts';
import { logIn } from '../fixtures/logged-in.ts';
import { makeMachine } from '../fixtures/run-cli.ts';

test('the name and the scope of a token are shown to the one who has it, by one request', async () => {
  await using there = await logIn({ 'GET /api/access': { body: { scope: 'project:p', name: 'ci' } } });
  expect((await there.run(['whoami'])).stdout).toMatch(/name +ci\nscope +project:p\n$/);
  expect(there.fake.asked.map(({ route }) => route)).toEqual(['GET /api/access']);
});

test('a refused token is shown with where it is from', async () => {
  const refused = { status: 401, body: refusal('unauthenticated', 'a valid token is required') };
  await using there = await logIn({ 'GET /api/access': refused, 'GET /api/projects': refused });
  const { code, stdout, stderr } = await there.run(['whoami']);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^url +http.*\ntoken +sp_a1a1a\.\.\.a1a1 \(refused\)\nfrom +the environment\n$/);
  expect(stderr).toContain('SALLYPORT_TOKEN of the environment is the token that was refused');
  expect((await there.run(['projects'])).stderr).toContain('SALLYPORT_TOKEN of the environment');
});

test('the deployment in use is shown where it cannot be reached', async () => {
  const { run } = await makeMachine({ SALLYPORT_URL: 'http://127.0.0.1:9', SALLYPORT_TOKEN: 'sp_x' });
  const { code, stdout } = await run(['whoami', '--json']);
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    { url: 'http://127.0.0.1:9', token: '***', source: 'environment' },
  ]);
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
