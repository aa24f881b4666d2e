/** The settings of a branch: those of the other session, unless the request or the conversation needs others. */
import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { HistoryMessage } from '../../domain/history.ts';
import type { MessageId, ProjectId, SessionId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import type { Session } from '../../domain/session.ts';
import { branchSession, forkSession } from './branch-session.ts';
import type { SessionOptions } from './new-session.ts';

const answer = 'a1' as MessageId;
const conversation: readonly HistoryMessage[] = [
  { role: 'user', messageId: 'm1' as MessageId, text: 'hello' },
  { role: 'assistant', messageId: answer, text: 'good day', calls: [] },
];
const ownModel = 'claude-of-its-own';

type Given = {
  readonly project?: Partial<Project>;
  readonly source?: Partial<Session>;
  readonly options?: SessionOptions;
};

/** The branch of a session with one message and its answer. */
const branchOf = async ({ project = {}, source = {}, options = {} }: Given): Promise<Session> => {
  const { ports } = openQuietPorts();
  const other = newSession({
    ...{ project: crypto.randomUUID() as ProjectId, provider: 'anthropic', model: ownModel },
    ...source,
  });
  const principal: Principal = { owner: other.owner, scope: 'admin', tokenHash: 'hash' };
  const { owner, project: id } = other;
  await ports.projects.create({ ...{ id, owner, name: 'p', createdAt: 0 }, ...project });
  await ports.sessions.create(other, { workspace: workspaceOf(other) });
  const turns = {
    ...ports.turns,
    loadWork: async () => ({ history: conversation }),
    // The table in memory knows no batch of writes.
    continueFrom: async (session: Session) => session,
  };
  const made = await branchSession({ ...ports, turns } as never, {
    ...{ id: crypto.randomUUID() as SessionId, principal, options },
    of: { session: other.id, messageId: answer },
    defaults: { provider: 'demo', flavor: 'micro', template: 'python', lifetimes: ports.lifetimes },
  });
  if (made === undefined) throw new Error('no branch was made');
  return made;
};

test.each<[string, Given, Session['runtime']]>([
  ['of the built-in loop, in a project of another', { project: { runtime: 'opencode' } }, undefined],
  ['of another program', { source: { runtime: 'opencode' } }, undefined],
  [
    'of another program, in its project',
    { project: { runtime: 'acp' }, source: { runtime: 'acp' } },
    undefined,
  ],
  ['that names its own', { options: { runtime: 'opencode' } }, 'opencode'],
])('turns of a branch %s are carried by what knows the conversation', async (_, given, runtime) => {
  expect((await branchOf(given)).runtime).toBe(runtime);
});

test.each<[string, SessionOptions, Pick<Session, 'provider' | 'model'>]>([
  ['nothing', {}, { provider: 'anthropic', model: ownModel }],
  ['the same provider', { provider: 'anthropic' }, { provider: 'anthropic', model: ownModel }],
  ['it by another name', { provider: 'Claude' }, { provider: 'anthropic', model: ownModel }],
  ['another provider', { provider: 'demo' }, { provider: 'demo', model: 'demo' }],
  ['both', { provider: 'openai', model: 'gpt-own' }, { provider: 'openai', model: 'gpt-own' }],
  ['a model alone', { model: 'claude-other' }, { provider: 'anthropic', model: 'claude-other' }],
])('a branch whose request names %s has a model of its provider', async (_, options, expected) => {
  expect(await branchOf({ options })).toMatchObject(expected);
});

const unlisted = { allow: ['one.example.com'] };

/** A fork of a session that has a template, a size and a network of its own, in a project that is not the caller's. */
const forkOf = async (options: SessionOptions, source: Partial<Session> = {}) => {
  const { ports } = openQuietPorts();
  const other = newSession({
    ...{ project: crypto.randomUUID() as ProjectId, template: 'node', flavor: 'large' },
    ...{ approvals: 'auto', ...source },
  });
  const { owner, project: id } = other;
  const network = { allow: ['one.example.com', 'two.example.com'] };
  await ports.projects.create({ id, owner, name: 'p', createdAt: 0, network });
  await ports.sessions.create(other, { workspace: workspaceOf(other) });
  const made = await forkSession(ports as never, {
    ...{ id: crypto.randomUUID() as SessionId, options, of: { session: other.id } },
    principal: { owner, scope: 'admin', tokenHash: 'hash' },
    defaults: { provider: 'demo', flavor: 'micro', template: 'python', lifetimes: ports.lifetimes },
  });
  return { made, other };
};

test.each<[string, SessionOptions, Partial<Session>]>([
  ['nothing', {}, { template: 'node', flavor: 'large' }],
  ['a template', { template: 'python' }, { template: 'python', flavor: 'large' }],
  ['a size', { flavor: 'small' }, { template: 'node', flavor: 'small' }],
  ['hosts', { network: unlisted }, { template: 'node', network: unlisted }],
])('a fork whose request names %s has the rest of the sandbox of its source', async (_, options, is) => {
  const { made, other } = await forkOf(options);
  expect(made).toMatchObject({ ...is, project: other.project, approvals: 'ask' });
});

test.each([undefined, unlisted])('a fork has no more of a network than its source, %j', async (network) => {
  expect((await forkOf({}, network === undefined ? {} : { network })).made?.network).toEqual(network);
});
