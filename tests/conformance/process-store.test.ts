/** Records of processes, against a real DynamoDB engine. */
import { expect, test } from 'vitest';
import { makeProcessStore } from '#shared/adapters/aws/dynamo/process-store.ts';
import { makeSandboxLog } from '#shared/adapters/aws/dynamo/sandbox-log.ts';
import type { SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import type { ProcessRecord } from '#shared/domain/process.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const store = () => makeProcessStore(fixture.table);
const newWorkspace = () => crypto.randomUUID() as WorkspaceId;
const record = (workspace: WorkspaceId, fields: Partial<ProcessRecord> = {}): ProcessRecord => ({
  ...{ id: crypto.randomUUID(), workspace, generation: 1, session: 's' as SessionId },
  ...{ command: 'sleep 600', isPty: false, startedAt: 1000, ...fields },
});

test('records are listed by their start, with nothing else of the workspace, also of one session', async () => {
  const workspace = newWorkspace();
  const late = record(workspace, { startedAt: 3000, isPty: true });
  const early = record(workspace, { startedAt: 2000, session: 'other' as SessionId });
  for (const each of [late, early, record(newWorkspace())]) await store().put(each);
  await makeSandboxLog(fixture.table).append(workspace, [{ at: 1, stream: 'stderr', text: 'beside' }]);
  expect(await store().list(workspace)).toEqual([early, late]);
  expect(await store().list(workspace, 's' as SessionId)).toEqual([late]);
  expect(await store().get(workspace, late.id)).toEqual(late);
  expect(await store().get(workspace, 'unknown')).toBeUndefined();
});

test('a record is written once, and its first end counts', async () => {
  const workspace = newWorkspace();
  const first = record(workspace);
  await store().put(first);
  await store().put({ ...first, command: 'another' });
  await store().end(workspace, first.id, { at: 5000, exitCode: 3 });
  await store().end(workspace, first.id, { at: 6000 });
  expect(await store().list(workspace)).toEqual([{ ...first, endedAt: 5000, exitCode: 3 }]);
  await store().end(workspace, 'unknown', { at: 5000 });
  expect(await store().get(workspace, 'unknown')).toBeUndefined();
});

test('a record that is removed is in no list', async () => {
  const workspace = newWorkspace();
  const [first, second] = [record(workspace), record(workspace)];
  for (const each of [first, second]) await store().put(each);
  await store().remove(workspace, first.id);
  await store().remove(workspace, 'unknown');
  expect(await store().list(workspace)).toEqual([second]);
});

test('a record of many: pages are followed', async () => {
  const workspace = newWorkspace();
  const command = 'x'.repeat(4096);
  const all = Array.from({ length: 300 }, (_, index) => record(workspace, { command, startedAt: index }));
  for (const each of all) await store().put(each);
  expect(await store().list(workspace)).toEqual(all);
});
