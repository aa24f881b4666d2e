/** Lists of a project's things, and named workspaces: created, entered, left and deleted. */
import { describe, expect, test } from 'vitest';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import type { MessageId, ProjectId, SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import type { Session } from '#shared/domain/session.ts';
import {
  atOnce,
  inboxLimits,
  message,
  newExecution,
  newSandbox,
  newSession,
  onTable,
  tally,
  workspaceOf,
} from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const stores = () => onTable(fixture.table);
const uuid = <Id extends string>(): Id => crypto.randomUUID() as string as Id;
const namedWorkspace = (change: Partial<Workspace> = {}): Workspace => ({
  ...workspaceOf(newSession()),
  users: [],
  isNamed: true,
  ...change,
});
const memberOf = ({ id, project, owner }: Workspace, change: Partial<Session> = {}): Session =>
  newSession({ workspace: id, project, owner, ...change });

describe('the sessions of a project', () => {
  test('are listed newest first, page by page, whoever created them, without those of other projects', async () => {
    const { create, sessions } = stores();
    const project = uuid<ProjectId>();
    for (const createdAt of [1, 2, 3, 4, 5]) await create(newSession({ project, createdAt }));
    await create(newSession({ createdAt: 6 }));
    const seen: number[][] = [];
    let after: string | undefined;
    do {
      const page = await sessions.listOfProject(project, {
        itemsMax: 2,
        ...(after === undefined ? {} : { after }),
      });
      seen.push(page.sessions.map(({ createdAt }) => createdAt));
      after = page.next;
    } while (after !== undefined);
    expect(seen.flat()).toEqual([5, 4, 3, 2, 1]);
    expect(seen.every((page) => page.length <= 2)).toBe(true);
    expect(await sessions.listOfProject(uuid(), { itemsMax: 2 })).toEqual({ sessions: [] });
  });

  test('are in their present state', async () => {
    const { create, sessions } = stores();
    const session = await create(newSession({ status: 'idle' }));
    await sessions.end(session, { status: 'completed', at: 2000, dueAt: 3000 });
    const listed = await sessions.listOfProject(session.project, { itemsMax: 5 });
    expect(listed.sessions.map(({ id, status }) => [id, status])).toEqual([[session.id, 'completed']]);
  });

  test.each<[string, (session: Session) => Promise<unknown>]>([
    ['forgotten', ({ id }) => stores().remove(id)],
    ['removed unused', (session) => stores().sessions.removeUnused(session)],
  ])('are listed no more when they are %s', async (_, go) => {
    const { create, sessions } = stores();
    const session = await create();
    await go(session);
    expect(await sessions.listOfProject(session.project, { itemsMax: 5 })).toEqual({ sessions: [] });
    expect(
      await stores().item(keys.projectSession(session.project, session.createdAt, session.id)),
    ).toBeUndefined();
  });
});

describe('a named workspace', () => {
  test('is created once, and listed with its project, oldest first', async () => {
    const { workspaces } = stores();
    const project = uuid<ProjectId>();
    const [first, second] = [1, 2].map((createdAt) =>
      namedWorkspace({ project, createdAt, externalId: `thread ${createdAt}`, source: 'a chat' }),
    ) as [Workspace, Workspace];
    expect(await workspaces.makeNamed(second)).toBe(true);
    expect(await workspaces.makeNamed(first)).toBe(true);
    expect(await workspaces.makeNamed({ ...first, externalId: 'other' })).toBe(false);
    expect(await workspaces.listNamed(project, { itemsMax: 5 })).toEqual({ workspaces: [first, second] });
    const page = await workspaces.listNamed(project, { itemsMax: 1 });
    expect(page.workspaces).toEqual([first]);
    expect((await workspaces.listNamed(project, { itemsMax: 1, after: page.next ?? '' })).workspaces).toEqual(
      [second],
    );
  });

  test('is created with its first session; the private workspace of a session is not listed', async () => {
    const { workspaces, create, sessions } = stores();
    const named = namedWorkspace();
    const first = memberOf(named);
    const made = { ...named, users: [first.id], latestAgent: first.id };
    expect(await sessions.create(first, { workspace: made })).toBe('created');
    await create(newSession({ project: named.project }));
    expect(await workspaces.listNamed(named.project, { itemsMax: 5 })).toEqual({ workspaces: [made] });
    const late = memberOf(named);
    expect(await sessions.create(late, { workspace: made })).toBe('moved');
    expect(await sessions.get(late.id)).toBeUndefined();
  });

  test('is entered by many, and knows the last agent', async () => {
    const { workspaces, sessions, readWorkspace } = stores();
    const named = namedWorkspace();
    await workspaces.makeNamed(named);
    const members = [
      memberOf(named),
      memberOf(named),
      newExecution({ workspace: named.id, project: named.project }),
    ];
    for (const member of members) expect(await sessions.create(member, { enters: {} })).toBe('created');
    const now = await readWorkspace(named.id);
    expect([...now.users].sort()).toEqual(members.map(({ id }) => id).sort());
    expect(now.latestAgent).toBe(members[1]?.id);
  });

  test('is entered by one of those who read the same version', async () => {
    const { workspaces, sessions } = stores();
    const named = namedWorkspace();
    await workspaces.makeNamed(named);
    const enter = (after: SessionId | null) => () => sessions.create(memberOf(named), { enters: { after } });
    expect(tally(await atOnce(10, enter(null)))).toEqual({ created: 1, moved: 9 });
    const latest = (await stores().readWorkspace(named.id)).latestAgent ?? null;
    expect(tally(await atOnce(10, enter(latest)))).toEqual({ created: 1, moved: 9 });
    expect(await enter(latest)()).toBe('moved');
  });

  test('is not entered from another project, nor if it does not exist', async () => {
    const { workspaces, sessions } = stores();
    const named = namedWorkspace();
    await workspaces.makeNamed(named);
    const options = { enters: {} };
    expect(await sessions.create(memberOf({ ...named, project: uuid<ProjectId>() }), options)).toBe('moved');
    expect(await sessions.create(memberOf({ ...named, id: uuid<WorkspaceId>() }), options)).toBe('moved');
  });

  test('outlives its sessions: one that never got a message leaves it', async () => {
    const { workspaces, sessions, readWorkspace } = stores();
    const named = namedWorkspace();
    await workspaces.makeNamed(named);
    const member = memberOf(named);
    await sessions.create(member, { enters: {} });
    expect(await workspaces.remove(named.id, 7000)).toBe(false);
    expect(await sessions.removeUnused(member)).toBe(true);
    expect((await readWorkspace(named.id)).users).toEqual([]);
    expect(await workspaces.remove(named.id, 7000)).toBe(false);
    expect(await sessions.get(member.id)).toBeUndefined();
  });

  test('WS2: is deleted when it is unused: not listed, not entered, then deleted', async () => {
    const { workspaces, sessions, readWorkspace } = stores();
    const named = namedWorkspace();
    await workspaces.makeNamed(named);
    const member = memberOf(named);
    await sessions.create(member, { enters: {} });
    expect(await workspaces.markDeleted(named, 5000, [])).toBeUndefined();
    await workspaces.claimStart(named.id, newSandbox());
    await sessions.end(member, { status: 'completed', at: 4000, dueAt: 9000 });
    await workspaces.leave(named.id, member.id);
    expect(await workspaces.markDeleted(named, 5000, [])).toMatchObject({ id: named.id, deletedAt: 5000 });
    expect(await workspaces.markDeleted(named, 6000, [])).toBeDefined();
    expect((await readWorkspace(named.id)).deletedAt).toBe(5000);
    expect(await workspaces.listNamed(named.project, { itemsMax: 5 })).toEqual({ workspaces: [] });
    expect(await sessions.create(memberOf(named), { enters: {} })).toBe('moved');
    expect(await workspaces.remove(named.id, 7000)).toBe(false);
    await workspaces.markStopped(named.id, 1, { reason: 'gone', at: 7000 });
    expect(await workspaces.remove(named.id, 7000)).toBe(true);
    expect(await workspaces.get(named.id)).toBeUndefined();
  });

  test('one without a name is not marked', async () => {
    const { makeWorkspace, workspaces } = stores();
    const own = await makeWorkspace({ users: [] });
    expect(await workspaces.markDeleted(own, 5000, [])).toBeUndefined();
  });
});

test('a private workspace that another session has entered since is left and not deleted', async () => {
  const { create, sessions, readWorkspace } = stores();
  const first = await create();
  const second = newSession({ workspace: first.workspace, project: first.project });
  await sessions.create(second, { enters: {} });
  expect(await sessions.removeUnused(first)).toBe(true);
  expect((await readWorkspace(first.workspace)).users).toEqual([second.id]);
});

test('the acceptance of a message is remembered', async () => {
  const { create, inbox } = stores();
  const session = await create();
  await inbox.accept(session, message('m-1'), inboxLimits);
  const asked = ['m-1', 'm-2'].map((id) => inbox.wasAccepted(session.id, id as MessageId));
  expect(await Promise.all(asked)).toEqual([true, false]);
});
