/** The network of a child whose parent is narrowed while the child is made (EG1), and its part of its parent's budget (TM8). */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { newSession } from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { Network } from '../../../domain/egress-policy.ts';
import { anyUsd } from '../../../domain/tree-slice.ts';
import { type SpawnRequest, spawnChild } from './spawn-child.ts';

const limits = { recursionDepthMax: 3, agentsPerSessionMax: 10, costUsdMax: 1 };

const open = async (network: Network = { allow: [] }) => {
  const quiet = openQuietPorts();
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const ports = { ...quiet.ports, world: { ...quiet.ports.world, sha256 } };
  const parent = newSession({ network });
  const { workspace: id, owner, project, createdAt } = parent;
  await ports.sessions.create(parent, { workspace: { id, owner, project, createdAt, users: [parent.id] } });
  const sandbox = { template: parent.template, flavor: parent.flavor, network, isOther: false };
  const policy = { mode: 'auto', grants: [] } as const;
  return {
    ports,
    parent,
    hooks: quiet.hooks,
    spawn: (part: NonNullable<SpawnRequest['part']> = {}, of: Partial<SpawnRequest> = {}) =>
      spawnChild(ports, {
        ...{ parent, policy, sandbox, limits, key: 'k', prompt: 'hello', workspace: 'shared' },
        ...{ idleMs: 1000, isUnleased: true, part, ...of },
      }),
  };
};

test('CH1: a child that was deleted before its call said so is not made again: the call fails', async () => {
  const { ports, spawn } = await open();
  const { session: id } = (await spawn()) ?? {};
  const child = id && (await ports.sessions.get(id));
  if (child === undefined) throw new Error('no child was made');
  await ports.sessions.end(child, { status: 'completed', at: 2, dueAt: 2 });
  expect(await ports.sessions.forget(child.id, 2)).toBe(true);
  await expect(spawn()).rejects.toMatchObject({ code: 'invalid_session_state' });
  expect(await ports.sessions.get(child.id)).toBeUndefined();
});

test.each(['before', 'after'])(
  'a parent that is narrowed just %s its child is made narrows it',
  async (when) => {
    const { ports, parent, hooks, spawn } = await open({ allow: ['a.org', 'b.org'] });
    const narrow = async (): Promise<void> => {
      hooks.before = async () => undefined;
      await ports.sessions.change(parent.id, { network: { allow: ['b.org'] } });
    };
    let requests = 0;
    hooks.before = async ({ constructor: { name } }) => {
      if (name === 'TransactWriteCommand' || requests > 0) requests += 1;
      if (requests === (when === 'before' ? 1 : 2)) await narrow();
    };
    const child = await spawn();
    expect(child && (await ports.sessions.get(child.session))?.network).toEqual({ allow: ['b.org'] });
  },
);

test.each(['before', 'after'])(
  'TM6: a parent whose money is changed just %s its child is made gives it that',
  async (when) => {
    const { ports, parent, hooks, spawn } = await open();
    const root = parent.id;
    const first = await spawn({}, { key: 'first', parent });
    const middle = first && (await ports.sessions.get(first.session));
    if (middle?.tree === undefined) throw new Error('no child was made');
    const tree = { ...middle.tree, slices: [middle.id] };
    let requests = 0;
    hooks.before = async ({ constructor: { name } }) => {
      if (name === 'TransactWriteCommand' || requests > 0) requests += 1;
      if (requests !== (when === 'before' ? 1 : 2)) return;
      hooks.before = async () => undefined;
      await ports.sessions.change(middle.id, { tree, limits: { ...limits, costUsdMax: 0.1 } });
    };
    const below = await spawn({}, { key: 'second', parent: middle });
    const child = below && (await ports.sessions.get(below.session));
    expect(child?.limits?.costUsdMax).toBe(0.1);
    expect(child?.tree).toEqual({ root, parent: middle.id, slices: [middle.id] });
  },
);

test('a child whose parent stays as it is has what it was given', async () => {
  const { ports, spawn } = await open({ allow: ['a.org', '*.b.org'] });
  const child = await spawn();
  expect(child && (await ports.sessions.get(child.session))?.network).toEqual({
    allow: ['a.org', '*.b.org'],
  });
});

test('a child is given a part of what is left, written before it is asked, and its children are within it', async () => {
  const { ports, parent, spawn } = await open();
  const first = await spawn({ usdMax: 0.6, seconds: 60 });
  const child = first && (await ports.sessions.get(first.session));
  const until = ports.world.now() + 60_000;
  expect(child?.tree).toEqual({ root: parent.id, parent: parent.id, slices: [child?.id], until });
  if (child === undefined) return;
  const again = await spawn({ usdMax: 0.6, seconds: 60 });
  expect(again).toEqual(first);
  expect((await ports.trees.read(parent.id))?.slices).toEqual({
    [child.id]: { usdMax: 0.6, spentUsd: 0, unsettledUsd: 0 },
  });
  const given = { parent: child, key: 'l' };
  await expect(spawn({ usdMax: 0.7 }, given)).rejects.toThrow('max_cost_usd: 0.6 is left of your budget');
  const second = await spawn({ usdMax: 0.1, seconds: 3600 }, given);
  const grandchild = second && (await ports.sessions.get(second.session));
  expect(grandchild?.tree).toEqual({
    ...{ root: parent.id, parent: child.id },
    ...{ slices: [child.id, grandchild?.id], until },
  });
});

test('tokens and tool calls are given like money, and never more than the parent has (TM8, TM9)', async () => {
  const { ports, parent, spawn } = await open();
  const first = await spawn({ tokensMax: 5000, toolCallsMax: 10 });
  const child = first && (await ports.sessions.get(first.session));
  if (child === undefined) throw new Error('no child was made');
  expect(child.tree).toEqual({ root: parent.id, parent: parent.id, slices: [child.id] });
  expect((await ports.trees.read(parent.id))?.slices).toEqual({
    [child.id]: { usdMax: anyUsd, spentUsd: 0, unsettledUsd: 0, tokensMax: 5000, toolCallsMax: 10 },
  });
  const given = { parent: child, key: 'l' };
  const refused = (part: object) => expect(spawn(part, given)).rejects;
  await refused({ tokensMax: 5001 }).toThrow('max_total_tokens: 5000 is left of your budget');
  await refused({ toolCallsMax: 11 }).toThrow('max_tool_calls: 10 is left of your budget');
  await refused({ usdMax: 2 }).toThrow('max_cost_usd: 1 is left of your budget');
  await spawn({ tokensMax: 5000, toolCallsMax: 10 }, given);
});

test('a child without a part has all that its parent has', async () => {
  const { ports, parent, spawn } = await open();
  const started = await spawn();
  const child = started && (await ports.sessions.get(started.session));
  expect(child?.tree).toEqual({ root: parent.id, parent: parent.id });
  await expect(spawn({ usdMax: 1.5 }, { key: 'other' })).rejects.toThrow('1 is left of your budget');
});
