import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { OwnerId, ProjectId, WorkspaceId } from '../../domain/ids.ts';
import { defaultProject, deploymentOwner, type Principal } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import { endSession } from '../turn/requests/end-session.ts';
import { type Message, messageWorkspace, type Spawn, spawnSession } from './converse.ts';
import { defaultWorkspaceId } from './resolve-workspace.ts';

const admin: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'a' };
const personOf = (name: string): Principal => ({
  owner: name as OwnerId,
  scope: `project:${defaultProject}`,
  tokenHash: name,
  isPerson: true,
});
const lifetimes = {
  idleMs: 1000,
  executionIdleMs: 1000,
  historyMs: 100_000,
  pausedMs: 604_800_000,
  waitStopMs: 900_000,
};
const defaults: Spawn['defaults'] = {
  provider: 'demo',
  flavor: 'small',
  template: 'python',
  lifetimes,
};

const opened = ({ agentMax = 10 } = {}) => {
  const quiet = openQuietPorts();
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const slotLimits = { ...quiet.ports.slotLimits, agentMax };
  const ports = { ...quiet.ports, slotLimits, world: { ...quiet.ports.world, sha256 } };
  const common = {
    principal: admin,
    ref: { creates: false },
    options: {},
    defaults,
  };
  return {
    ...quiet,
    ports,
    say: (options: Partial<Message> = {}) =>
      messageWorkspace(ports, { ...common, text: 'hello', ...options }),
    spawn: (options: Partial<Spawn> = {}) =>
      spawnSession(ports, { ...common, newSession: false, ...options }),
    end: (session: Session) => endSession(ports, session, { reason: 'a test' }),
    inboxOf: async ({ id }: Session) => (await ports.turns.loadWork(id)).inbox.map(({ text }) => text),
  };
};

test('WS3: of many concurrent messages one creates the session, and every message reaches it', async () => {
  const { say, inboxOf } = opened();
  const ref = { id: crypto.randomUUID(), creates: true };
  const all = await Promise.all(Array.from({ length: 20 }, (_, index) => say({ ref, text: `m${index}` })));
  expect(new Set(all.map(({ session }) => session.id)).size).toBe(1);
  expect(all.filter(({ spawned }) => spawned)).toHaveLength(1);
  expect(all.filter(({ workspaceCreated }) => workspaceCreated)).toHaveLength(1);
  const [first] = all;
  expect(first && (await inboxOf(first.session))).toHaveLength(20);
});

test('WS3: messages to a session that ends concurrently go to the next one', async () => {
  const { say, end, hooks } = opened();
  const first = await say();
  hooks.before = async ({ constructor: { name } }) => {
    if (name !== 'TransactWriteCommand') return;
    hooks.before = async () => undefined;
    await end(first.session);
  };
  const next = await say();
  expect([next.spawned, next.session.workspace]).toEqual([true, first.session.workspace]);
  expect(next.session.id).not.toBe(first.session.id);
});

test('WS4: a message is sent once under its id, however it is repeated', async () => {
  const { say, spawn, end, inboxOf } = opened();
  const ref = { creates: true };
  const first = await say({ ref, messageId: 'once' });
  const again = await say({ ref, messageId: 'once' });
  expect([again.session.id, again.spawned, again.isRepeated]).toEqual([first.session.id, false, true]);
  expect(await inboxOf(first.session)).toEqual(['hello']);
  await end(again.session);
  const late = await say({ ref, messageId: 'once' });
  expect([late.session.id, late.messageId, late.isRepeated]).toEqual([first.session.id, 'once', true]);
  const other = await say({ ref: { id: first.session.workspace, creates: false }, messageId: 'twice' });
  expect(other.spawned).toBe(true);
  const here = { id: first.session.workspace, creates: false };
  const later = await say({ ref: here, messageId: 'later' });
  await end(later.session);
  const repeated = await say({ ref: here, messageId: 'later' });
  expect([repeated.session.id, repeated.isRepeated]).toEqual([other.session.id, true]);
  const options = { newSession: true, text: 'x', messageId: 'thrice' };
  const [one, two] = [await spawn(options), await spawn(options)];
  expect([two.session.id, two.spawned, two.isRepeated]).toEqual([one.session.id, false, true]);
});

test('people have a default workspace each, and do not reach each other’s agents', async () => {
  const { say } = opened();
  const [ann, bob, token] = [
    await say({ principal: personOf('ann') }),
    await say({ principal: personOf('bob') }),
    await say(),
  ];
  expect(new Set([ann, bob, token].map(({ session }) => session.workspace)).size).toBe(3);
  const ref = { id: ann.session.workspace, creates: false };
  await expect(say({ principal: personOf('bob'), ref })).rejects.toMatchObject({
    code: 'workspace_not_found',
  });
  const own = await say({ principal: personOf('ann') });
  expect(own.session.id).toBe(ann.session.id);
});

const strange = crypto.randomUUID() as ProjectId;
const stranger: Principal = { owner: deploymentOwner, scope: `project:${strange}`, tokenHash: 's' };
const token: Principal = { ...admin, scope: `project:${defaultProject}`, tokenHash: 't' };

test.each([
  ['another project', stranger, admin],
  ['a person, of the tokens', personOf('ann'), token],
  ['a person, of a colleague', personOf('ann'), personOf('bob')],
  ['a token, of a person', token, personOf('bob')],
])('WS1: no default workspace is made by %s', async (_, taker, whose) => {
  const { say, ports } = opened();
  await ports.projects.create({ id: strange, owner: deploymentOwner, name: 's', createdAt: 1 });
  const project = await ports.projects.get(defaultProject);
  if (project === undefined) throw new Error('there is a default project');
  const id = defaultWorkspaceId(ports.world, { project, principal: whose });
  const ref = { id, creates: true };
  await expect(say({ principal: taker, ref })).rejects.toMatchObject({ code: 'conflict' });
  const { session } = await say({ principal: whose });
  expect([session.workspace, session.project]).toEqual([id, defaultProject]);
});

test.each([
  ['another project', strange, strange as string],
  ['a person', defaultProject, 'ann'],
])('WS1: a default workspace that %s made earlier is not entered', async (_, project, owner) => {
  const { say, spawn, ports } = opened();
  const own = await ports.projects.get(defaultProject);
  if (own === undefined) throw new Error('there is a default project');
  const id = defaultWorkspaceId(ports.world, { project: own, principal: admin });
  const taken = { id, project, owner: owner as OwnerId, createdAt: 1, users: [], isNamed: true as const };
  await ports.workspaces.makeNamed(taken);
  const refused = { code: 'conflict', message: 'another workspace has the id of the default workspace' };
  await expect(say()).rejects.toMatchObject(refused);
  await expect(spawn({ newSession: true })).rejects.toMatchObject(refused);
  await expect(say({ ref: { id, creates: true } })).rejects.toMatchObject(refused);
});

test('WS1: an id that may be derived is not a client’s to choose', async () => {
  const { say } = opened();
  const id = '9c5b94b1-35ad-89bb-b118-8e8fc24abf80' as WorkspaceId;
  await expect(say({ ref: { id, creates: true } })).rejects.toMatchObject({ code: 'conflict' });
});

test('a session whose first message finds no slot is deleted', async () => {
  const { say, ports } = opened({ agentMax: 1 });
  const first = await say({ ref: { creates: true } });
  await expect(say({ ref: { creates: true } })).rejects.toMatchObject({ code: 'resource_limit_exceeded' });
  const { sessions } = await ports.sessions.listOfProject(defaultProject, { itemsMax: 10 });
  expect(sessions.map(({ id }) => id)).toEqual([first.session.id]);
});

test('a session keeps its project’s settings from its creation, and its own limit of money', async () => {
  const { spawn, ports } = opened();
  const id = crypto.randomUUID() as ProjectId;
  const project = {
    id,
    owner: deploymentOwner,
    name: 'p',
    createdAt: 1,
    model: 'theirs',
    approvals: 'low' as const,
    limits: { costUsdMax: 1 },
    disabledTools: ['a'],
    mcpNamespacing: 'none' as const,
    flavorsAllowed: ['small' as const],
  };
  await ports.projects.create(project);
  const options = { disabledTools: ['b', 'a'], allowedTools: ['c'], maxCostUsd: 0.5 };
  const { session } = await spawn({ project: id, options });
  expect(await ports.sessions.get(session.id)).toMatchObject({
    model: 'theirs',
    approvals: 'low',
    limits: { costUsdMax: 1, ownCostUsdMax: 0.5 },
    disabledTools: ['a', 'b'],
    allowedTools: ['c'],
    mcpNamespacing: 'none',
    flavor: 'small',
  });
});

test.each([
  ['a workspace that it would make', false],
  ['a workspace that exists', true],
])(
  'WS5: creating a session in %s during the deletion of its project is refused as not found',
  async (_, exists) => {
    const { spawn, ports, hooks } = opened();
    const id = crypto.randomUUID() as ProjectId;
    await ports.projects.create({ id, owner: deploymentOwner, name: 'p', createdAt: 1 });
    const ref = exists ? { id: (await spawn({ project: id })).session.workspace, creates: false } : undefined;
    const listed = async () => (await ports.sessions.listOfProject(id, { itemsMax: 10 })).sessions;
    const before = await listed();
    hooks.before = async ({ constructor: { name } }) => {
      if (name !== 'TransactWriteCommand') return;
      hooks.before = async () => undefined;
      await ports.projects.markDeleted(id, 5);
    };
    const spawned = spawn({ project: id, newSession: true, ...(ref === undefined ? {} : { ref }) });
    await expect(spawned).rejects.toMatchObject({ code: 'project_not_found' });
    const made = (await listed()).filter((session) => before.every((known) => known.id !== session.id));
    expect(made.map(({ status }) => status)).toEqual(exists ? ['completed'] : []);
  },
);
