import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

const snapshot = { id: 'n1', name: 'first', at: 'T', files: 2, bytes: 9 };

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
    'DELETE /api/sessions/s/snapshots/n1': { status: 204, body: '' },
  });
  expect((await there.run(['snapshot', 's', '--name', 'first'])).stdout).toContain('first');
  expect((await there.run(['snapshots', 's'])).stdout).toContain('No snapshots.');
  expect((await there.run(['snapshots', 's', '--all'])).stdout).toBe(
    ['ID  NAME   MADE  FILES  BYTES', 'n1  first  T     2      9', ''].join('\n'),
  );
  expect((await there.run(['restore', 's', 'n1'])).stdout).toBe(
    'Restored first: 2 files. Processes of the sandbox have ended.\n',
  );
  expect((await there.run(['snapshot', 'delete', 's', 'n1'])).stdout).toBe('Deleted n1.\n');
  expect(made).toEqual([{ name: 'first' }, { snapshot: 'n1' }]);
});

test('a fork takes a snapshot or a session, not both and not neither', async () => {
  const made: unknown[] = [];
  await using there = await logIn({
    'POST /api/sessions': ({ body }) => {
      made.push(JSON.parse(body));
      return { status: 201, body: { id: 'f', kind: 'execution', workspace: 'w' } };
    },
  });
  expect((await there.run(['fork', 'n1'])).code).toBe(0);
  expect((await there.run(['fork', '--session', 's', '--agent', '--project', 'p'])).code).toBe(0);
  expect(made).toEqual([
    { kind: 'execution', from: { snapshot: 'n1' } },
    { kind: 'agent', from: { session: 's' }, project: 'p' },
  ]);
  expect((await there.run(['fork'])).code).toBe(2);
  expect((await there.run(['fork', 'n1', '--session', 's'])).code).toBe(2);
});
