/** The removal of sessions against a real DynamoDB engine: whatever is written meanwhile, what is left of a session has its record. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { keys, type Table } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import { derivedUuid, type SessionId, type WorkspaceId } from '#shared/domain/ids.ts';
import type { Session } from '#shared/domain/session.ts';
import { farAway, newSession, note, onTable, workspaceOf } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const stores = () => onTable(fixture.table);
const completed = { status: 'completed', at: 9000, dueAt: farAway } as const;

/** The sort keys of what does not expire. */
const itemsOf = async (id: SessionId): Promise<readonly string[]> => {
  const { Items = [] } = await fixture.table.client.send(
    new QueryCommand({
      TableName: fixture.table.name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': keys.session(id).pk },
      ConsistentRead: true,
    }),
  );
  return Items.filter(({ ttl }) => ttl === undefined).map(({ sk }) => String(sk));
};

/** The table, on which `meanwhile` happens in front of the request of that number. */
const interrupted = (place: number, meanwhile: () => Promise<unknown>): Table => {
  const { client, ...table } = fixture.table;
  let requests = 0;
  const send = async (...request: Parameters<typeof client.send>): Promise<unknown> => {
    requests += 1;
    if (requests === place) await meanwhile();
    return client.send(...request);
  };
  return { ...table, client: { send } as unknown as Table['client'] };
};

/** An ended root that has a child which still works, with a tree and a log. */
const endedRoot = async (): Promise<{ readonly root: Session; readonly child: Session }> => {
  const { sessions, create, eventLog, read } = stores();
  const root = await create();
  const { owner, project, workspace } = root;
  const tree = { root: root.id, parent: root.id };
  const child = newSession({ owner, project, workspace, depth: 1, tree });
  const bears = { parent: root, agentsMax: 50, isUnleased: true } as const;
  expect(await sessions.create(child, { enters: {}, child: bears })).toBe('created');
  await eventLog.append(root.id, [note('before')], 8000);
  await sessions.end(await read(root.id), completed);
  return { root: await read(root.id), child };
};

const writers: readonly [string, (ended: { root: Session; child: Session }) => Promise<unknown>][] = [
  ['an event is appended', ({ root }) => stores().eventLog.append(root.id, [note('late')], 9001)],
  [
    'an event with a mark is appended',
    ({ root }) => stores().eventLog.appendOnce(root.id, { mark: 1, entries: [note('late')], at: 9001 }),
  ],
  [
    'a client offers a tool',
    ({ root }) => makeCallerStore(fixture.table).declare(root.id, { callerId: 'ide', tools: [] }),
  ],
  [
    'a child makes a child of its own',
    ({ child }) => {
      const { owner, project, workspace } = child;
      const tree = { root: child.tree?.root ?? child.id, parent: child.id };
      const grandchild = newSession({ owner, project, workspace, depth: 2, tree });
      const bears = { parent: child, agentsMax: 50, isUnleased: true } as const;
      return stores().sessions.create(grandchild, { enters: {}, child: bears });
    },
  ],
  [
    'a child is given a slice',
    ({ root, child }) => makeTreeStore(fixture.table).addSlice(root.id, { session: child.id }),
  ],
];

describe.each(writers)('while %s', (_, write) => {
  test('a deleted session leaves nothing, wherever that comes between', async () => {
    for (let place = 1; place <= 6; place += 1) {
      const ended = await endedRoot();
      const { id } = ended.root;
      expect(await makeSessionStore(interrupted(place, () => write(ended))).forget(id, 9000)).toBe(true);
      expect([place, await itemsOf(id)]).toEqual([place, []]);
    }
  });
});

test('a session is resumed with all it had, or deleted, wherever its resume comes between', async () => {
  const { eventLog } = stores();
  const resuming = { at: 9500, dueAt: farAway, conversationsMax: 9, log: [note('again')], audits: [] };
  const outcomes: string[] = [];
  for (let place = 1; place <= 6; place += 1) {
    const { root } = await endedRoot();
    let resumed = 'none';
    const table = interrupted(place, async () => {
      resumed = (await stores().sessions.resume(root, resuming)).status;
    });
    const isForgotten = await makeSessionStore(table).forget(root.id, 9000);
    const { events } = await eventLog.read(root.id, { since: -1, eventsMax: 10 });
    outcomes.push(`${place}: ${resumed} ${isForgotten} ${events.length}`);
  }
  expect(outcomes).toEqual([
    '1: resumed false 2',
    ...[2, 3, 4].map((place) => `${place}: gone true 0`),
    ...[5, 6].map((place) => `${place}: none true 0`),
  ]);
});

test('a deletion that was left is finished by the next', async () => {
  const { root } = await endedRoot();
  const dying = interrupted(4, () => Promise.reject(new Error('the function died')));
  await expect(makeSessionStore(dying).forget(root.id, 9000)).rejects.toThrow('died');
  expect(await itemsOf(root.id)).toEqual(['META']);
  expect(await stores().sessions.forget(root.id, 9000)).toBe(true);
  expect(await itemsOf(root.id)).toEqual([]);
});

test('J6, CH1: a deleted session whose id was derived is not made again within a day, another one is', async () => {
  const { sessions, create, remove, item } = stores();
  const derived = derivedUuid(crypto.randomUUID().replaceAll('-', '').repeat(2)) as SessionId;
  const random = crypto.randomUUID() as SessionId;
  for (const [id, again] of [
    [derived, 'exists'],
    [random, 'created'],
  ] as const) {
    const session = await create(newSession({ id }));
    expect(await remove(id)).toBe(true);
    const workspace = crypto.randomUUID() as WorkspaceId;
    const next = { ...session, workspace };
    expect(await sessions.create(next, { workspace: workspaceOf(next) })).toBe(again);
  }
  expect(await item(keys.forgotten(derived))).toMatchObject({ ttl: 9 + 86_400 });
  expect(await item(keys.session(derived))).toBeUndefined();
});

test('an unused session leaves nothing of what it was made with', async () => {
  const { sessions } = stores();
  const session = newSession();
  const given = { sealed: 'variables', instructions: 'a text', slice: { usdMax: 1 } };
  await sessions.create(session, { workspace: workspaceOf(session), ...given });
  expect(await itemsOf(session.id)).toEqual(['ENVIRONMENT', 'INSTRUCTIONS', 'META', 'TREE']);
  expect(await sessions.removeUnused(session)).toBe(true);
  expect(await itemsOf(session.id)).toEqual([]);
});
