import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

const id = '4063255e-c414-4616-8709-96618624f944';
const snapshot = { id, name: 'first', at: 'T', files: 2, bytes: 9 };

test('a snapshot is made, listed, restored and deleted', async () => {
  const made: unknown[] = [];
  await using there = await logIn({
    'POST /api/sessions/s/snapshots': ({ body }) => {
      made.push(JSON.parse(body));
      return { status: 201, body: snapshot };
    },
    'GET /api/sessions/s/snapshots?of=workspace': { body: { snapshots: [] } },
    'GET /api/sessions/s/snapshots?of=project': { body: { snapshots: [snapshot] } },
    'POST /api/sessions/s/restore': ({ body }) => {
      made.push(JSON.parse(body));
      return { body: snapshot };
    },
    [`DELETE /api/sessions/s/snapshots/${id}`]: { status: 204, body: '' },
  });
  expect((await there.run(['snapshot', 's', '--name', 'first'])).stdout).toBe(`${id}\n`);
  expect((await there.run(['snapshots', 's'])).stdout).toContain('No snapshots.');
  expect((await there.run(['snapshots', 's', '--all'])).stdout).toBe(
    [`${'ID'.padEnd(id.length)}  NAME   MADE  FILES  BYTES`, `${id}  first  T     2      9`, ''].join('\n'),
  );
  expect((await there.run(['restore', 's', id])).stdout).toBe(
    'Restored first: 2 files. Processes of the sandbox have ended.\n',
  );
  expect((await there.run(['snapshot', 'delete', 's', id])).stdout).toBe(`Deleted ${id}.\n`);
  expect(made).toEqual([{ name: 'first' }, { snapshot: id }]);
});

test('a snapshot is named instead of its id, where its name is of one alone', async () => {
  const of = (second: number, name: string) => ({ ...snapshot, id: `${id.slice(0, -1)}${second}`, name });
  const restored: unknown[] = [];
  await using there = await logIn({
    'GET /api/sessions/s/snapshots?of=workspace': { body: { snapshots: [of(1, 'own')] } },
    'GET /api/sessions/s/snapshots?of=project': {
      body: { snapshots: [of(1, 'own'), of(2, 'other'), of(3, 'own'), of(4, 'two'), of(5, 'two')] },
    },
    'POST /api/sessions/s/restore': ({ body }) => {
      restored.push(JSON.parse(body));
      return { body: snapshot };
    },
  });
  await there.run(['restore', 's', 'own']);
  await there.run(['restore', 's', 'other']);
  expect(restored).toEqual([{ snapshot: of(1, '').id }, { snapshot: of(2, '').id }]);
  const lists = there.fake.asked.flatMap(({ route }) => /of=(.*)/.exec(route)?.[1] ?? []);
  expect(lists).toEqual(['project', 'workspace', 'project']);
  const twice = await there.run(['restore', 's', 'two']);
  expect(twice).toMatchObject({ code: 1, stderr: expect.stringContaining('2 snapshots have the name two') });
  expect(twice.stderr).toContain(of(5, '').id);
  expect((await there.run(['restore', 's', 'none'])).stderr).toContain('no snapshot has the name none');
});

test('a fork of an id that is no snapshot says how a session is forked', async () => {
  const error = {
    code: 'not_found',
    message: 'there is no such snapshot',
    suggestions: [],
    recoveryActions: [],
  };
  await using there = await logIn({ 'POST /api/sessions': { status: 404, body: { error } } });
  expect((await there.run(['fork', id])).stderr).toContain(`sallyport fork --session ${id}`);
});

test('a fork takes a snapshot or a session, not both and not neither', async () => {
  const made: unknown[] = [];
  await using there = await logIn({
    'POST /api/sessions': ({ body }) => {
      made.push(JSON.parse(body));
      return { status: 201, body: { id: 'f', kind: 'execution', workspace: 'w' } };
    },
  });
  expect(await there.run(['fork', id])).toMatchObject({ code: 0, stdout: 'f\n' });
  expect((await there.run(['fork', '--session', 's', '--agent', '--project', 'p'])).code).toBe(0);
  expect((await there.run(['fork', id, '--template', 'node', '--flavor', 'large'])).code).toBe(0);
  expect(made).toEqual([
    { kind: 'execution', from: { snapshot: id } },
    { kind: 'agent', from: { session: 's' }, project: 'p' },
    { kind: 'execution', from: { snapshot: id }, template: 'node', flavor: 'large' },
  ]);
  expect((await there.run(['fork'])).code).toBe(2);
  expect((await there.run(['fork', id, '--session', 's'])).code).toBe(2);
});

test('a fork of a name says where the ids are, and sends nothing', async () => {
  await using there = await logIn({});
  const { code, stderr } = await there.run(['fork', 'before-upgrade']);
  expect(code).toBe(2);
  expect(stderr).toContain('a fork takes the id of a snapshot, not before-upgrade');
  expect(stderr).toContain('sallyport snapshots <session> --all');
  expect(there.fake.asked).toEqual([]);
});
