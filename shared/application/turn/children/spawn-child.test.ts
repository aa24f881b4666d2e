/** The network of a child whose parent is narrowed while the child is made: no wider than its parent's then (EG1). */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { newSession } from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { Network } from '../../../domain/egress-policy.ts';
import { spawnChild } from './spawn-child.ts';

const limits = { recursionDepthMax: 3, agentsPerSessionMax: 10, costUsdMax: 1 };

const open = async (network: Network) => {
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
    spawn: () =>
      spawnChild(ports, {
        ...{ parent, policy, sandbox, limits, key: 'k', prompt: 'hello', workspace: 'shared' },
        ...{ idleMs: 1000, isUnleased: true, correlationId: 'c' },
      }),
  };
};

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

test('a child whose parent stays as it is has what it was given', async () => {
  const { ports, spawn } = await open({ allow: ['a.org', '*.b.org'] });
  const child = await spawn();
  expect(child && (await ports.sessions.get(child.session))?.network).toEqual({
    allow: ['a.org', '*.b.org'],
  });
});
