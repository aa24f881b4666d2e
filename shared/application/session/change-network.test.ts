/** The network of a session of a tree: no wider than its parent's, now and after its parent's was narrowed (EG1). */
import { expect, test } from 'vitest';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import { fake } from '../../../tests/fake.ts';
import type { Network } from '../../domain/egress-policy.ts';
import type { SessionId, WorkspaceId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import type { SandboxRecord, Workspace } from '../../domain/sandbox.ts';
import type { Session } from '../../domain/session.ts';
import { changeNetwork } from './change-network.ts';

type Ports = Parameters<typeof changeNetwork>[0];

const project = { allow: ['a.org', 'b.org', '*.c.org'] };
const [root, child, grandchild] = ['r', 'c', 'g'].map((id) => id as SessionId) as [
  SessionId,
  SessionId,
  SessionId,
];
const tree = (parent: SessionId): Partial<Session> => ({
  tree: { root, parent } as NonNullable<Session['tree']>,
});

const open = () => {
  const hooks = {
    change: async (_id: SessionId): Promise<void> => undefined,
    sandbox: async (_id: WorkspaceId): Promise<void> => undefined,
  };
  const sandboxes = new Map<WorkspaceId, readonly string[] | undefined>();
  const session = (id: SessionId, more: Partial<Session>): Session => ({
    ...newSession(),
    ...{ id, workspace: `w-${id}` as WorkspaceId, network: { allow: ['a.org', 'b.org'] } },
    ...more,
  });
  const stored = new Map<string, Session>(
    [
      session(root, { hasChildren: true }),
      session(child, tree(root)),
      session(grandchild, { ...tree(child), workspace: 'w-c' as WorkspaceId }),
    ].map((one) => [one.id, one]),
  );
  const ports = fake<Ports>({
    sessions: fake<Ports['sessions']>({
      get: async (id) => stored.get(id),
      change: async (id, { network }) => {
        await hooks.change(id);
        const { network: _, ...rest } = stored.get(id) as Session;
        const changed = (network === undefined ? rest : { ...rest, network }) as Session;
        stored.set(id, changed);
        return changed;
      },
      descendants: async () => [...stored.values()].filter(({ tree: of }) => of !== undefined),
    }),
    projects: fake<Ports['projects']>({ get: async () => fake<Project>({ network: project }) }),
    workspaces: fake<Ports['workspaces']>({
      get: async () =>
        fake<Workspace>({ sandbox: fake<SandboxRecord>({ generation: 1, state: 'starting' }) }),
      setNetwork: async (id, _generation, network) => {
        await hooks.sandbox(id);
        return sandboxes.set(id, network?.allow) !== undefined;
      },
    }),
    auditLog: fake<Ports['auditLog']>({ append: async () => undefined }),
    telemetry: fake<Ports['telemetry']>({ info: () => undefined }),
    world: fake<Ports['world']>({ now: () => 1000, uuid: () => 'u' }),
  });
  const principal = fake<Principal>({ tokenHash: 'h' });
  return {
    ...{ stored, session, hooks, sandboxes },
    change: (id: SessionId, network: Network | null) =>
      changeNetwork(ports, stored.get(id) as Session, { principal, network }),
    allowed: () => [...stored.values()].map(({ network }) => network?.allow),
  };
};

test('a child is refused what its parent does not have, whatever the project allows', async () => {
  const { change, allowed } = open();
  await expect(change(child, { allow: ['a.org', 'x.c.org'] })).rejects.toThrow(
    'network: the session that started this one does not allow x.c.org',
  );
  expect(allowed()).toEqual([
    ['a.org', 'b.org'],
    ['a.org', 'b.org'],
    ['a.org', 'b.org'],
  ]);
});

test('a child may have less, and what is below it has no more', async () => {
  const { change, allowed } = open();
  await change(child, { allow: ['b.org'] });
  expect(allowed()).toEqual([['a.org', 'b.org'], ['b.org'], ['b.org']]);
});

test('a parent that is narrowed narrows its tree, and one that is widened leaves it', async () => {
  const { change, allowed } = open();
  await change(root, { allow: ['a.org', '*.c.org'] });
  expect(allowed()).toEqual([['a.org', '*.c.org'], ['a.org'], ['a.org']]);
  await change(root, null);
  expect(allowed()).toEqual([undefined, undefined, undefined]);
  await change(root, { allow: ['a.org'] });
  expect(allowed()).toEqual([['a.org'], undefined, undefined]);
});

test('EG1: a child has no host that its parent lost while it was given that', async () => {
  const { change, allowed, hooks, sandboxes } = open();
  await change(child, { allow: ['a.org'] });
  hooks.change = async () => {
    hooks.change = async () => undefined;
    await change(root, { allow: ['a.org'] });
  };
  await change(child, { allow: ['a.org', 'b.org'] });
  expect(allowed()).toEqual([['a.org'], ['a.org'], ['a.org']]);
  expect(sandboxes.get('w-c' as WorkspaceId)).toEqual(['a.org']);
});

test('EG1: a sandbox has no host that its session lost while the sandbox was told of that', async () => {
  const { change, allowed, hooks, sandboxes } = open();
  hooks.sandbox = async () => {
    hooks.sandbox = async () => undefined;
    await change(root, { allow: ['a.org'] });
  };
  await change(child, { allow: ['b.org'] });
  expect(allowed()[1]).toBeUndefined();
  expect(sandboxes.get('w-c' as WorkspaceId)).toBeUndefined();
});

test('EG1: one that is made below a child while that is narrowed is narrowed as well', async () => {
  const { stored, session, change, hooks } = open();
  const late = 'l' as SessionId;
  hooks.change = async (id) => {
    if (id !== child) return;
    hooks.change = async () => undefined;
    stored.set(late, session(late, tree(child)));
  };
  await change(root, { allow: ['a.org'] });
  expect(stored.get(late)?.network).toEqual({ allow: ['a.org'] });
});

test('a repeat of a change that was cut short narrows what is below', async () => {
  const { change, allowed, hooks } = open();
  hooks.change = async (id) => {
    if (id === child) throw new Error('cut short');
  };
  await expect(change(root, { allow: ['a.org'] })).rejects.toThrow('cut short');
  hooks.change = async () => undefined;
  await change(root, { allow: ['a.org'] });
  expect(allowed()).toEqual([['a.org'], ['a.org'], ['a.org']]);
});
