/** Children in the table against a real DynamoDB engine: made under a living parent's lease, bounded, found, and woken for. */
import { expect, test } from 'vitest';
import type { SessionId } from '#shared/domain/ids.ts';
import type { Session } from '#shared/domain/session.ts';
import { agentSlots } from '#shared/domain/slot-holder.ts';
import {
  atOnce,
  farAway,
  inboxLimits,
  message,
  newSession,
  onTable,
  tally,
  workspaceOf,
} from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const stores = () => onTable(fixture.table);
const completed = { status: 'completed', at: 9000, dueAt: farAway } as const;

/** A root with a running message, and its lease in hand. */
const holdRoot = async (): Promise<Session> => {
  const { sessions, inbox, turns } = stores();
  const root = newSession();
  await sessions.create(root, { workspace: workspaceOf(root) });
  await inbox.accept(root, message('m'), inboxLimits);
  const held = await turns.takeLease(root.id, { holder: 'h', at: 3000, until: farAway });
  if (held === undefined) throw new Error('the lease was not free');
  return held;
};

const childOf = (parent: Session, change: Partial<Session> = {}): Session =>
  newSession({
    ...{ owner: parent.owner, project: parent.project, workspace: parent.workspace, depth: parent.depth + 1 },
    ...{ tree: { root: parent.tree?.root ?? parent.id, parent: parent.id }, createdAt: 4000, ...change },
  });

const bear = (parent: Session, child: Session, agentsMax = 50) =>
  stores().sessions.create(child, { enters: {}, child: { parent, agentsMax } });

test('a child belongs to its root, uses its workspace, and takes no slot', async () => {
  const { sessions, inbox, workspaces, slots } = stores();
  const root = await holdRoot();
  const child = childOf(root);
  expect(await bear(root, child)).toBe('created');
  expect(await sessions.descendants(root.id)).toEqual([child]);
  expect((await sessions.get(root.id))?.hasChildren).toBe(true);
  const workspace = await workspaces.get(root.workspace);
  expect([...(workspace?.users ?? [])].sort()).toEqual([root.id, child.id].sort());
  expect(workspace?.latestAgent).toBeUndefined();
  expect(await inbox.accept(child, message('n'), { slotsMax: 0, conversationsMax: 0 })).toBe('accepted');
  expect((await slots.read(agentSlots(root.project))).taken.map(({ session }) => session)).toEqual([root.id]);
  expect(await bear(root, child)).toBe('exists');
});

test('none is created for a parent that has ended, or that has another holder (CH2)', async () => {
  const { sessions, turns } = stores();
  const root = await holdRoot();
  await turns.takeLease(root.id, { holder: 'other', at: farAway + 1, until: farAway + 2 });
  expect(await bear(root, childOf(root))).toBe('orphan');
  const ended = await holdRoot();
  await sessions.end(ended, completed);
  expect(await bear(ended, childOf(ended))).toBe('orphan');
  expect(await sessions.descendants(ended.id)).toEqual([]);
});

test('none is created by a step that knows an older cost of its parent: its tree would begin with that (TM5)', async () => {
  const { sessions } = stores();
  const root = await holdRoot();
  expect(await bear({ ...root, costUsd: root.costUsd - 0.01 }, childOf(root))).toBe('orphan');
  expect(await sessions.descendants(root.id)).toEqual([]);
  expect(await bear(root, childOf(root))).toBe('created');
});

test('one that is made without the lease needs its parent as it was read (PS2)', async () => {
  const { sessions, eventLog } = stores();
  const root = await holdRoot();
  const unleased = (parent: Session) =>
    sessions.create(childOf(root), { enters: {}, child: { parent, agentsMax: 50, isUnleased: true } });
  const lastSeq = (await eventLog.append(root.id, [{ type: 'system', data: { kind: 'x' } }], 5))?.at(-1)?.seq;
  expect(await unleased(root)).toBe('orphan');
  const [read] = await sessions.getMany([root.id]);
  expect(read?.lastSeq).toBe(lastSeq);
  if (read !== undefined)
    expect(await unleased({ ...read, lease: { ...read.lease, fence: 99 } })).toBe('created');
});

test('of any number of concurrent creations as many succeed as the tree allows, including the root (CH2)', async () => {
  const root = await holdRoot();
  const results = await atOnce(12, () => bear(root, childOf(root), 5));
  expect(tally(results)).toEqual({ created: 4, full: 8 });
  const [first] = await stores().sessions.descendants(root.id);
  if (first === undefined) throw new Error('no child was made');
  expect(await bear({ ...first, lease: { ...first.lease } }, childOf(first), 5)).toBe('full');
});

test('a tree is found from its root at any depth, oldest first', async () => {
  const { sessions } = stores();
  const root = await holdRoot();
  const [old, young] = [childOf(root, { createdAt: 5000 }), childOf(root, { createdAt: 6000 })];
  const grandchild = childOf(old, { createdAt: 7000 });
  for (const child of [young, old]) await bear(root, child);
  await bear(old, grandchild);
  expect((await sessions.descendants(root.id)).map(({ id }) => id)).toEqual([
    old.id,
    young.id,
    grandchild.id,
  ]);
});

test('a session whose end was decided before its first child was created is read again before it ends (CH4)', async () => {
  const { sessions } = stores();
  const seen = await holdRoot();
  await bear(seen, childOf(seen));
  const ended = await sessions.end(seen, completed);
  expect(ended?.session.hasChildren).toBe(true);
});

test('a notified parent has work that its holder has not seen, and an ended one is not notified', async () => {
  const { sessions, turns } = stores();
  const root = await holdRoot();
  expect(await turns.wake(root.id, 5000)).toBe(true);
  expect(await turns.releaseLease(root, { dueAt: farAway, isIdle: false })).toBe('kept');
  expect((await sessions.get(root.id))?.dueAt).toBeLessThan(farAway);
  await sessions.end(root, completed);
  expect(await turns.wake(root.id, 5000)).toBe(false);
  expect(await turns.wake(crypto.randomUUID() as SessionId, 5000)).toBe(false);
});

test('releasing the lease of an ended session leaves it due for its children (CH4)', async () => {
  const { sessions, turns } = stores();
  const root = await holdRoot();
  await sessions.end(root, { ...completed, dueAt: 6000 });
  expect(await turns.releaseLease(root, { dueAt: farAway, isIdle: false })).toBe('stale');
  expect((await sessions.get(root.id))?.dueAt).toBe(6000);
});
