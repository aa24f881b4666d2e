/** The money of a session and of those below it, changed while they live. */
import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { AuditRow } from '../../domain/audit.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import { costUsdMaxOf, type SessionLimits, treeUsdMaxOf } from '../../domain/session-tree.ts';
import type { AuditLog } from '../../ports/access.ts';
import { changeBudget } from './change-budget.ts';

const operatorUsdMax = 50;
const principal = { tokenHash: 'a'.repeat(64), isPerson: false } as unknown as Principal;

const open = async (childLimits: readonly SessionLimits[] = []) => {
  const rows: AuditRow[] = [];
  const { ports: quiet, hooks } = openQuietPorts();
  const append = async (row: AuditRow) => void rows.push(row);
  const ports = { ...quiet, auditLog: { append } as unknown as AuditLog };
  const root = newSession({ limits: { costUsdMax: 10 } });
  await ports.sessions.create(root, { workspace: workspaceOf(root) });
  const children = [];
  for (const limits of childLimits) {
    const tree = { root: root.id, parent: root.id };
    const child = newSession({ limits, tree, depth: 1 });
    const request = { parent: root, agentsMax: 9, isUnleased: true as const };
    await ports.sessions.create(child, { workspace: workspaceOf(child), child: request });
    children.push(child);
  }
  const maxOf = async (id: SessionId) => costUsdMaxOf((await ports.sessions.get(id)) ?? root, operatorUsdMax);
  const change = async (costUsdMax: number | null) =>
    changeBudget(ports, (await ports.sessions.get(root.id)) ?? root, {
      principal,
      costUsdMax,
      operatorUsdMax,
    });
  const logged = async (id: SessionId) =>
    (await ports.eventLog.read(id, { since: -1, eventsMax: 10 })).events.map(({ data }) => data);
  return { ports, root, children, rows, hooks, maxOf, change, logged };
};

const isChangeOf = (input: object, id: SessionId | undefined): boolean => {
  const text = JSON.stringify(input);
  return text.includes('budget_changed') && text.includes(`SESSION#${id}`);
};

test('a change whose entry is not written is no change', async () => {
  const { root, hooks, maxOf, change, logged } = await open();
  hooks.before = async ({ input }) => {
    if (JSON.stringify(input).includes('budget_changed')) throw new Error('the function died');
  };
  await expect(change(2)).rejects.toThrow('died');
  expect([await maxOf(root.id), await logged(root.id)]).toEqual([10, []]);
});

test('a change beside another entry of the log has the next number', async () => {
  const { ports, root, hooks, maxOf, change, logged } = await open();
  hooks.before = async ({ input }) => {
    if (!isChangeOf(input, root.id)) return;
    hooks.before = async () => undefined;
    await ports.eventLog.append(root.id, [{ type: 'system', data: { kind: 'note' } }], 1);
  };
  await change(2);
  expect(await maxOf(root.id)).toBe(2);
  expect(await logged(root.id)).toEqual([{ kind: 'note' }, { kind: 'budget_changed', maxCostUsd: 2 }]);
  expect((await ports.sessions.get(root.id))?.lastSeq).toBe(1);
});

test('a limit is lowered and raised, and never over that of the project', async () => {
  const { root, rows, maxOf, change, logged } = await open();
  for (const [given, max] of [
    [2, 2],
    [0, 0],
    [40, 10],
    [null, 10],
  ] as const) {
    await change(given);
    expect(await maxOf(root.id)).toBe(max);
  }
  expect((await logged(root.id)).map((data) => 'maxCostUsd' in data && data['maxCostUsd'])).toEqual([
    2, 0, 10, 10,
  ]);
  expect(rows.map(({ action, detail }) => [action, detail?.['before']])).toEqual(
    [10, 2, 0, 10].map((before) => ['session.budget', before]),
  );
});

test('TM6: a child has the limit of its parent, or the less that it was given', async () => {
  const { children, maxOf, change, logged } = await open([
    { costUsdMax: 10 },
    { costUsdMax: 10, ownCostUsdMax: 1 },
  ]);
  const now = () => Promise.all(children.map(({ id }) => maxOf(id)));
  await change(4);
  expect(await now()).toEqual([4, 1]);
  await change(0.5);
  expect(await now()).toEqual([0.5, 0.5]);
  await change(8);
  expect((await now())[0]).toBe(8);
  const [first] = children;
  expect(first && (await logged(first.id)).at(-1)).toEqual({ kind: 'budget_changed', maxCostUsd: 8 });
});

test('TM6: the limit of a child is of its branch, not of what the whole tree has spent', async () => {
  const { ports, root } = await open();
  const under = async (parent: Session, costUsd: number) => {
    const tree = { root: root.id, parent: parent.id };
    const child = newSession({ tree, costUsd, depth: parent.depth + 1 });
    await ports.sessions.create(child, {
      workspace: workspaceOf(child),
      child: { parent, agentsMax: 9, isUnleased: true as const },
    });
    return child;
  };
  const child = await under(root, 0.25);
  const below = await under(child, 0.5);
  // The rest of the tree has spent more than the limits that follow.
  const { id: other } = await under(root, 4);
  const spent = { session: other, fence: 1, usd: 4, usdMin: 4, usdMax: 10, at: 1, until: 2, call: 'o' };
  await ports.trees.reserve(root.id, spent);
  await ports.trees.release(root.id, { session: other, fence: 1, unsettledUsd: 4 });
  const limit = async (costUsdMax: number | null) =>
    changeBudget(ports, (await ports.sessions.get(child.id)) ?? child, {
      ...{ principal, costUsdMax, operatorUsdMax },
    });
  const askFor = async (id: SessionId) => {
    const session = await ports.sessions.get(id);
    const sums = { usd: 3, usdMin: 0.5, usdMax: treeUsdMaxOf(session ?? child, operatorUsdMax) };
    const lasting = { at: 1, until: 2, fence: 1, call: 'c', slices: session?.tree?.slices };
    return ports.trees.reserve(root.id, { session: id, ...sums, ...lasting });
  };
  await limit(null);
  expect((await ports.sessions.get(child.id))?.tree?.slices).toBeUndefined();
  await limit(2);
  expect((await ports.trees.read(root.id))?.slices).toEqual({
    [child.id]: { usdMax: 2, spentUsd: 0.75, unsettledUsd: 0 },
  });
  for (const { id } of [child, below]) {
    expect(await askFor(id)).toEqual({ grantedUsd: 1.25 });
    await ports.trees.release(root.id, { session: id, fence: 1, unsettledUsd: 0 });
  }
  await limit(1);
  expect(await askFor(below.id)).toBe('spent');
  await limit(null);
  expect(await askFor(below.id)).toEqual({ grantedUsd: 3 });
});

test('TM6: a change that comes after one that was cut short reaches the children, too', async () => {
  const { ports, root, children, maxOf, change } = await open([{ costUsdMax: 5 }]);
  const limits = { costUsdMax: 10, ownCostUsdMax: 8 };
  await ports.sessions.change(root.id, { limits });
  await change(8);
  expect(await Promise.all(children.map(({ id }) => maxOf(id)))).toEqual([8]);
});

test('TM6: of two changes at the same time the children have the one that the root has', async () => {
  const { root, children, hooks, maxOf, change } = await open([{ costUsdMax: 10 }, { costUsdMax: 10 }]);
  const [first] = children;
  hooks.before = async ({ input }) => {
    if (!isChangeOf(input, first?.id)) return;
    hooks.before = async () => undefined;
    await change(1);
  };
  await change(6);
  expect(await Promise.all([root, ...children].map(({ id }) => maxOf(id)))).toEqual([1, 1, 1]);
});

test('a change of the limit of a child and one of its root both hold', async () => {
  const { ports, children, hooks, change } = await open([{ costUsdMax: 10 }]);
  const [child] = children;
  if (child === undefined) throw new Error('no child was made');
  hooks.before = async ({ input }) => {
    if (!isChangeOf(input, child.id)) return;
    hooks.before = async () => undefined;
    await change(1);
  };
  await changeBudget(ports, child, { principal, costUsdMax: 7, operatorUsdMax });
  expect((await ports.sessions.get(child.id))?.limits).toEqual({ costUsdMax: 1, ownCostUsdMax: 7 });
});

test('TM6: a slice whose change was cut short counts what its branch has spent until it is given', async () => {
  const { ports, root, children } = await open([{ costUsdMax: 10 }]);
  const [child] = children;
  if (child === undefined) throw new Error('no child was made');
  const limit = (costUsd: number) =>
    changeBudget(ports, { ...child, costUsd }, { principal, costUsdMax: 5, operatorUsdMax });
  const { changeLogged } = ports.sessions;
  Object.assign(ports.sessions, { changeLogged: () => Promise.reject(new Error('cut short')) });
  await expect(limit(1)).rejects.toThrow('cut short');
  Object.assign(ports.sessions, { changeLogged });
  await limit(3);
  expect((await ports.trees.read(root.id))?.slices?.[child.id]).toMatchObject({ usdMax: 5, spentUsd: 3 });
});
