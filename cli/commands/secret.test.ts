import { expect, test } from 'vitest';
import { type Routes, startFakeDeployment } from '../fixtures/fake-deployment.ts';
import { makeMachine } from '../fixtures/run-cli.ts';

const project = '3f3e4b6a-0000-4000-8000-000000000000';
const path = `/api/projects/${project}/secrets`;
const ofDefault = '/api/projects/00000000-0000-4000-8000-000000000000/secrets';

const loggedIn = async (routes: Routes) => {
  const fake = await startFakeDeployment(routes);
  const token = `sp_${'a1'.repeat(32)}`;
  const machine = await makeMachine({ SALLYPORT_URL: fake.url, SALLYPORT_TOKEN: token });
  return { fake, ...machine, [Symbol.asyncDispose]: fake[Symbol.asyncDispose] };
};

test('a value is read from the pipe with all its lines, without the last line end', async () => {
  await using on = await loggedIn({ [`PUT ${path}/KEY`]: { status: 201, body: { name: 'KEY' } } });
  const ran = await on.run(['secret', 'set', 'KEY', '--project', project], { stdin: 'a line\nanother\n' });
  expect(ran).toEqual({ code: 0, stdout: 'Set KEY.\n', stderr: '' });
  expect(on.fake.asked.map(({ route, body }) => [route, JSON.parse(body)])).toEqual([
    [`PUT ${path}/KEY`, { value: 'a line\nanother' }],
  ]);
});

test('a value among the arguments is refused, not sent, and not repeated in the error', async () => {
  await using on = await loggedIn({});
  const { code, stdout, stderr } = await on.run(['secret', 'set', 'KEY', 'hunter2']);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('a value cannot be an argument');
  expect(stderr).not.toContain('hunter2');
  expect(on.fake.asked).toEqual([]);
});

test('an empty value, or one over the limit, is refused before it is sent', async () => {
  await using on = await loggedIn({});
  expect((await on.run(['secret', 'set', 'KEY'], { stdin: '\n' })).stderr).toContain(
    'at least one character',
  );
  expect((await on.run(['secret', 'set', 'KEY'], { stdin: 'x'.repeat(9000) })).code).toBe(1);
  expect(on.fake.asked).toEqual([]);
});

test('a project token uses its own project, any other token the default one', async () => {
  const listed = { body: { projects: [{ id: project }] } };
  await using on = await loggedIn({
    'GET /api/projects': listed,
    [`GET ${path}`]: { body: { secrets: [{ name: 'OWN' }] } },
    [`GET ${ofDefault}`]: { body: { secrets: [{ name: 'DEFAULT' }] } },
  });
  expect((await on.run(['secret'])).stdout).toBe('NAME\nOWN\n');
  listed.body.projects.push({ id: 'another' });
  expect((await on.run(['secret'])).stdout).toBe('NAME\nDEFAULT\n');
});

test('secrets of the default project are listed and removed by name', async () => {
  await using on = await loggedIn({
    'GET /api/projects': { body: { projects: [] } },
    [`GET ${ofDefault}`]: { body: { secrets: [{ name: 'A' }, { name: 'B' }] } },
    [`DELETE ${ofDefault}/A`]: { body: { message: 'Secret A removed' } },
  });
  expect((await on.run(['secret'])).stdout).toBe('NAME\nA\nB\n');
  expect(JSON.parse((await on.run(['secret', 'list', '--json'])).stdout)).toEqual({
    secrets: [{ name: 'A' }, { name: 'B' }],
  });
  expect((await on.run(['secret', 'remove', 'A'])).stdout).toBe('Removed A.\n');
  expect(JSON.parse((await on.run(['secret', 'remove', 'A', '--json'])).stdout)).toEqual({
    message: 'Secret A removed',
  });
});
