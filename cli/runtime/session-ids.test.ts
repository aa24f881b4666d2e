import { expect, test } from 'vitest';
import type { Answer, Routes } from '../fixtures/fake-deployment.ts';
import { logIn } from '../fixtures/logged-in.ts';

const [one, two, old] = [
  '0ddf7f30-608a-4a19-8380-6d095004d752',
  '0ddf7f31-c8c0-4c74-b949-74d5050dfe6d',
  '619704f3-a4ca-4043-b456-d2fd2ed89592',
];
const sessionOf = (id: string, title?: string) => ({
  ...{ id, kind: 'agent', status: 'idle', flavor: 'small', pendingApprovals: [] },
  ...{ createdAt: '', lastActiveAt: '', lastStopReason: null, sandbox: null, costUsd: 0, title },
});
/** Two pages of sessions, and one that is archived. */
const lists: Routes = {
  'GET /api/sessions?archived=false': { body: { sessions: [sessionOf(one, 'first')], next: 'x' } },
  'GET /api/sessions?archived=false&after=x': { body: { sessions: [sessionOf(two)] } },
  'GET /api/sessions?archived=true': { body: { sessions: [sessionOf(old)] } },
};
const found: Answer = { body: sessionOf(one) };

test('the first characters of an id are enough, in either case, and the list is read to its end for them', async () => {
  await using machine = await logIn({ ...lists, [`GET /api/sessions/${one}`]: found });
  const { code, stdout } = await machine.run(['sessions', 'get', '0DDF7F30', '--json']);
  expect([code, JSON.parse(stdout).id]).toEqual([0, one]);
  expect(machine.fake.asked.map(({ route }) => route)).toEqual([
    ...Object.keys(lists).slice(0, 2),
    `GET /api/sessions/${one}`,
  ]);
});

test('a whole id, and a text that begins no id, are sent as they are', async () => {
  await using machine = await logIn({ [`GET /api/sessions/${one}`]: found, 'GET /api/sessions/0dd': found });
  for (const id of [one, '0dd']) expect((await machine.run(['sessions', 'get', id])).code).toBe(0);
  expect(machine.fake.asked).toHaveLength(2);
});

test('a beginning that several ids have is refused with these, and nothing is done', async () => {
  await using machine = await logIn(lists);
  const { code, stderr } = await machine.run(['stop', '6197', '0ddf']);
  expect([code, stderr]).toEqual([
    1,
    `sallyport: 2 sessions have an id that begins with 0ddf (conflict)\n  ${one}  idle  first\n  ${two}  idle\n`,
  ]);
  expect(machine.fake.asked.filter(({ route }) => !route.startsWith('GET '))).toEqual([]);
});

test('a beginning that no id has is refused, also among the archived ones', async () => {
  await using machine = await logIn(lists);
  const { code, stderr } = await machine.run(['sessions', 'get', 'dead']);
  expect([code, stderr]).toEqual([
    1,
    'sallyport: no session has an id that begins with dead (session_not_found)\n  List the sessions with `sallyport sessions --all`, and archived ones with `--archived`.\n',
  ]);
});

test('a beginning that resembles a subcommand is no mistyped one', async () => {
  await using machine = await logIn(lists);
  const { stderr } = await machine.run(['snapshot', 'de1e']);
  expect(stderr).toContain('no session has an id that begins with de1e');
});

test('several arguments are completed by one list, and an archived session is found', async () => {
  const ends: Routes = { [`DELETE /api/sessions/${one}`]: found, [`DELETE /api/sessions/${old}`]: found };
  await using machine = await logIn({ ...lists, ...ends });
  expect((await machine.run(['stop', '0ddf7f30', '6197'])).stdout).toBe(`Stopped ${one}.\nStopped ${old}.\n`);
  expect(machine.fake.asked.map(({ route }) => route)).toEqual([...Object.keys(lists), ...Object.keys(ends)]);
});

test('an option that names a session takes them too, and another argument of hexadecimal digits stays', async () => {
  await using machine = await logIn({
    ...lists,
    [`GET /api/sessions/${one}/files?path=beef`]: { body: { files: [], entries: [] } },
    'POST /api/sessions': { status: 201, body: sessionOf(two) },
  });
  expect((await machine.run(['fork', '--session', '0ddf7f30'])).code).toBe(0);
  expect(machine.bodies('POST /api/sessions')).toEqual([{ kind: 'execution', from: { session: one } }]);
  await machine.run(['files', 'ls', '0ddf7f30', 'beef']);
  expect(machine.fake.asked.at(-1)?.route).toContain(`/api/sessions/${one}/`);
  expect(machine.fake.asked.at(-1)?.route).toContain('beef');
});
