/**
 * A deleted project against a real DynamoDB engine: its tokens open nothing, its schedules run no more and are taken
 * back from the scheduler, whatever dies on the way; what is another's stays.
 */

import { expect, test } from 'vitest';
import { makeAuditLog } from '#shared/adapters/aws/dynamo/audit-log.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeMcpServerStore } from '#shared/adapters/aws/dynamo/mcp-servers.ts';
import { makeProjectStore } from '#shared/adapters/aws/dynamo/project-store.ts';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { makeSnapshotStore } from '#shared/adapters/aws/dynamo/snapshots.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import type { ForgetDeps } from '#shared/application/deps.ts';
import { sweep } from '#shared/application/janitor/sweep-in-rounds.ts';
import { forgetProject } from '#shared/application/project/forget-project.ts';
import { dispatchSchedule } from '#shared/application/schedule/dispatch-schedule.ts';
import type { RunDeps } from '#shared/application/schedule/schedule-conversation.ts';
import type { ConnectionId, OwnerId, ProjectId, SnapshotId, WorkspaceId } from '#shared/domain/ids.ts';
import { deletionWaitMsMax } from '#shared/domain/limits.ts';
import { unknownHealth } from '#shared/domain/mcp/health.ts';
import type { McpServer } from '#shared/domain/mcp/server.ts';
import { deploymentOwner, type Scope } from '#shared/domain/principal.ts';
import type { Project } from '#shared/domain/project.ts';
import type { Schedule } from '#shared/domain/schedule/schedule.ts';
import type { ProjectSecrets } from '#shared/ports/projects.ts';
import type { WebhookDispatcher } from '#shared/ports/webhooks.ts';
import { fake } from '../fake.ts';
import { openQuietPorts } from '../simulation/quiet-ports.ts';
import { newRun, newSchedule } from './schedule-fixture.ts';
import { newSession, onTable, workspaceOf } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';
import { newWebhook } from './webhook-fixture.ts';

const fixture = openFileTable();

const at = 2_000_000;
const armedFor = 9_000_000;

const openPorts = () => {
  const { ports: quiet, clock, table: memory } = openQuietPorts();
  clock.now = at;
  const { table } = fixture;
  const cleared: ProjectId[] = [];
  const tended: string[] = [];
  const closed: string[] = [];
  /** Workspaces with files in the bucket. */
  const saved = new Set<WorkspaceId>();
  const ports = {
    ...quiet,
    projects: makeProjectStore(table),
    tokens: makeTokenStore(table),
    connections: makeConnectionStore(table),
    sockets: { ...quiet.sockets, close: async (id: string) => void closed.push(id) },
    schedules: makeScheduleStore(table),
    snapshots: makeSnapshotStore(table),
    mcpServers: makeMcpServerStore(table),
    webhooks: makeWebhookStore(table),
    webhookDispatcher: fake<WebhookDispatcher>({
      dispatch: async (webhook: string) => void tended.push(webhook),
    }),
    secrets: fake<ProjectSecrets>({ clear: async (id: ProjectId) => void cleared.push(id) }),
    auditLog: makeAuditLog(table),
    archive: { ...quiet.archive, forget: async (id: WorkspaceId) => void saved.delete(id) },
  };
  /** Workspaces and their rows are in the table in memory. */
  const logs = [ports.auditLog, makeAuditLog(memory)];
  const rowsOf = async (project: ProjectId) => {
    const pages = await Promise.all(logs.map((log) => log.list({ now: clock.now, project, itemsMax: 100 })));
    return pages.flatMap(({ rows }) => rows);
  };
  return { ports, clock, rowsOf, cleared, tended, closed, saved };
};
type Opened = ReturnType<typeof openPorts>;
type Ports = Opened['ports'];

const newProject = async ({ projects }: Ports): Promise<ProjectId> => {
  const id = crypto.randomUUID() as ProjectId;
  await projects.create({ id, owner: 'deployment' as OwnerId, name: 'p', createdAt: at } satisfies Project);
  return id;
};
/** As its deletion leaves it to the janitor. */
const decideDeletion = async ({ projects }: Ports, id: ProjectId): Promise<void> => {
  const marked = await projects.markDeleted(id, at);
  expect(marked && (await projects.decideDeleted(marked))).toBe(true);
};
const newToken = async ({ tokens }: Ports, scope: Scope): Promise<string> => {
  const [id, hash] = [crypto.randomUUID(), crypto.randomUUID()];
  expect(await tokens.put({ id, hash, name: 't', scope, masked: '***', createdAt: at })).toBe(true);
  return hash;
};
const newSocket = async ({ connections }: Ports, tokenHash: string): Promise<ConnectionId> => {
  const id = crypto.randomUUID() as ConnectionId;
  const principal = { owner: deploymentOwner, scope: 'admin:ro', tokenHash, tokenId: 't' } as const;
  await connections.put({ id, principal, connectedAt: at });
  return id;
};
const newNamed = (project: ProjectId) => ({
  ...{ id: crypto.randomUUID() as WorkspaceId, owner: 'deployment' as OwnerId, project, createdAt: at },
  ...{ name: 'w', isNamed: true as const, users: [] },
});
const newArmed = async ({ schedules }: Ports, ...projects: readonly ProjectId[]): Promise<Schedule> => {
  const targets = projects.map((project) => ({ project }));
  const schedule = newSchedule({ targets, nextRunAt: armedFor, armedFor });
  await schedules.create(schedule, { dueAt: undefined, schedulesMax: 50 });
  return schedule;
};

/**
 * One deleted project with two tokens, the socket of one, a workspace with files and two schedules, one of which runs in another
 * project as well.
 */
const deletedProject = async ({ ports, saved }: Pick<Opened, 'ports' | 'saved'>) => {
  const [project, other] = [await newProject(ports), await newProject(ports)];
  const theirs = [
    await newToken(ports, `project:${project}`),
    await newToken(ports, `project:${project}:ro`),
  ];
  const others = [await newToken(ports, `project:${other}`), await newToken(ports, 'admin:ro')];
  const own = await newArmed(ports, project);
  const shared = await newArmed(ports, project, other);
  await ports.schedules.write(own, {
    ...{ read: own, dueAt: undefined, schedulesMax: 50 },
    runs: [newRun(own, { dueAt: at })],
  });
  const workspace = newNamed(project);
  await ports.workspaces.makeNamed(workspace);
  saved.add(workspace.id);
  const socket = await newSocket(ports, String(theirs[1]));
  await newSocket(ports, String(others[1]));
  await decideDeletion(ports, project);
  return { project, other, theirs, others, own, shared, workspace: workspace.id, socket };
};
type Deleted = Awaited<ReturnType<typeof deletedProject>>;

async function* allTokens({ tokens }: Ports) {
  let after: string | undefined;
  do {
    const page = await tokens.list({ itemsMax: 100, ...(after === undefined ? {} : { after }) });
    yield* page.tokens;
    after = page.next;
  } while (after !== undefined);
}

/** Also what the sweep finishes. */
const expectGone = async (opened: Opened, deleted: Deleted) => {
  const { ports, clock, rowsOf, closed, saved } = opened;
  const { project, other, theirs, others, own, shared, workspace, socket } = deleted;
  clock.now += deletionWaitMsMax;
  expect((await sweep(ports, { lifetimes: ports.lifetimes })).failed).toBe(0);
  expect(await ports.workspaces.get(workspace)).toBeUndefined();
  expect([...saved]).toEqual([]);
  expect([...new Set(closed)]).toEqual([socket]);
  const listed = (await Array.fromAsync(allTokens(ports))).map(({ hash }) => hash);
  expect(listed).toEqual(expect.arrayContaining(others));
  expect(listed.filter((hash) => theirs.includes(hash))).toEqual([]);
  const rows = (await rowsOf(project)).map(
    ({ actor, action, subject }) => `${actor.id} ${action} ${subject}`,
  );
  expect(new Set(rows.filter((row) => !row.includes('token.revoke')))).toEqual(
    new Set([
      `janitor schedule.delete ${own.id}`,
      `janitor schedule.update ${shared.id}`,
      `janitor workspace.delete ${workspace}`,
    ]),
  );
  expect(new Set(rows.filter((row) => row.includes('janitor token.revoke'))).size).toBe(2);
  const opens = async (hash: string) => (await ports.tokens.get(hash)) !== undefined;
  expect(await Promise.all(theirs.map(opens))).toEqual([false, false]);
  expect(await Promise.all(others.map(opens))).toEqual([true, true]);
  expect((await ports.schedules.find(own.id))?.schedule).toMatchObject({ isDeleted: true, isEnabled: false });
  expect(await ports.schedules.listOf(project)).toEqual([]);
  const [left] = await ports.schedules.listOf(other);
  expect(left).toMatchObject({ id: shared.id, targets: [{ project: other }], isEnabled: true, armedFor });
  expect(await ports.projects.markDeleted(project, at)).toBeUndefined();
};

test('its tokens and schedules are deleted with it, one that runs elsewhere too continues there, and each is audited', async () => {
  const opened = openPorts();
  const { ports, rowsOf, cleared } = opened;
  const deleted = await deletedProject(opened);
  expect(await forgetProject(ports, deleted.project)).toBe(true);
  expect(await ports.workspaces.get(deleted.workspace)).toBeUndefined();
  await expectGone(opened, deleted);
  expect(cleared).toEqual([deleted.project]);
  const rows = await rowsOf(deleted.project);
  expect(rows.map(({ actor, action }) => `${actor.id} ${action}`).toSorted()).toEqual([
    'janitor schedule.delete',
    'janitor schedule.update',
    'janitor token.revoke',
    'janitor token.revoke',
    'janitor workspace.delete',
  ]);
});

test('AC12: a socket that one of its tokens opened is closed, and no other', async () => {
  const opened = openPorts();
  const { project, socket } = await deletedProject(opened);
  await forgetProject(opened.ports, project);
  expect(opened.closed).toEqual([socket]);
});

test('its schedule is due at once: the sweep disarms it, starts no run, and deletes it', async () => {
  const opened = openPorts();
  const { ports } = opened;
  const { project, own } = await deletedProject(opened);
  await forgetProject(ports, project);
  expect((await Array.fromAsync(ports.schedules.due(at, 1000))).flat()).toContain(own.id);
  const disarmed: unknown[] = [];
  const scheduler = {
    arm: () => Promise.reject(new Error('nothing is armed')),
    disarm: async (id: string, runAt: number) => void disarmed.push([id, runAt]),
  };
  // Nothing else is asked for: whatever started a run would fail.
  const tending = { ...ports, scheduler } as unknown as RunDeps;
  await dispatchSchedule(tending, { id: own.id, runAt: armedFor });
  expect(disarmed).toEqual([[own.id, armedFor]]);
  expect(await ports.schedules.find(own.id)).toBeUndefined();
  expect((await Array.fromAsync(ports.schedules.due(at, 1000))).flat()).not.toContain(own.id);
});

/** Fails at one of its calls, in what it asks of any of these ports, before or after that is done. */
const dying = (ports: Ports, dies: { call: number; isAfter: boolean }): Ports => {
  let calls = 0;
  const around = <P extends object>(port: P): P =>
    new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return async (...args: readonly unknown[]) => {
          calls += 1;
          const isIts = calls === dies.call;
          if (isIts && !dies.isAfter) throw new Error('it died');
          const result: unknown = await value.apply(target, args);
          if (isIts) throw new Error('it died');
          return result;
        };
      },
    });
  const { projects, tokens, sockets, schedules, mcpServers, secrets, auditLog, workspaces, archive } = ports;
  return {
    ...ports,
    projects: around(projects),
    tokens: around(tokens),
    // A frame that is not sent stops nothing.
    sockets: { ...sockets, close: around(sockets).close },
    schedules: around(schedules),
    mcpServers: around(mcpServers),
    secrets: around(secrets),
    auditLog: around(auditLog),
    workspaces: around(workspaces),
    archive: around(archive),
  };
};

test.each([false, true])(
  'wherever it dies (after it: %s), a repeated request completes it',
  async (isAfter) => {
    let deaths = 0;
    for (let call = 1; ; call += 1) {
      const opened = openPorts();
      const { ports } = opened;
      const deleted = await deletedProject(opened);
      const died = await forgetProject(dying(ports, { call, isAfter }), deleted.project).then(
        () => false,
        (error: Error) => error.message === 'it died',
      );
      if (died) {
        deaths += 1;
        // The record goes last: until then it can be asked for again.
        if ((await ports.projects.markDeleted(deleted.project, at)) !== undefined)
          expect(await forgetProject(ports, deleted.project)).toBe(true);
      }
      await expectGone(opened, deleted);
      // Once more, when nothing is left.
      await forgetProject(ports, deleted.project);
      await expectGone(opened, deleted);
      if (!died) break;
    }
    expect(deaths).toBeGreaterThan(12);
  },
);

test('a project keeps all its resources until its deletion is decided', async () => {
  const { ports } = openPorts();
  const project = await newProject(ports);
  const token = await newToken(ports, `project:${project}`);
  const schedule = await newArmed(ports, project);
  expect(await forgetProject(ports satisfies ForgetDeps, project)).toBe(false);
  await ports.projects.markDeleted(project, at);
  expect(await forgetProject(ports satisfies ForgetDeps, project)).toBe(false);
  expect(await ports.tokens.get(token)).toBeDefined();
  expect(await ports.schedules.listOf(project)).toMatchObject([{ id: schedule.id, isEnabled: true }]);
});

test('nothing is made in it from the mark on, by whichever caller: no schedule, no webhook, no MCP server, no token, no snapshot', async () => {
  const { ports } = openPorts();
  const [gone, other] = [await newProject(ports), await newProject(ports)];
  const elsewhere = await newArmed(ports, other);
  await ports.projects.markDeleted(gone, at);
  for (const projects of [[gone], [gone, other]]) {
    const schedule = newSchedule({ targets: projects.map((project) => ({ project })) });
    expect(await ports.schedules.create(schedule, { dueAt: undefined, schedulesMax: 50 })).toBe('gone');
    expect(await ports.schedules.find(schedule.id)).toBeUndefined();
  }
  const moved = { ...elsewhere, targets: [{ project: gone }] };
  const options = { read: elsewhere, dueAt: undefined, schedulesMax: 50 };
  expect(await ports.schedules.write(moved, options)).toBe('gone');
  const { version } = await ports.webhooks.list();
  const webhook = newWebhook({ project: gone });
  expect(await ports.webhooks.create(webhook, { secret: 's', version })).toBe('gone');
  const server: McpServer = {
    ...{ project: gone, name: 's', config: { transport: 'stdio', command: 'x' } },
    ...{ isEnabled: true, health: unknownHealth, createdAt: at, version: 0 },
  };
  expect(await ports.mcpServers.add(server, { serversMax: 50 })).toBe('gone');
  expect(await ports.mcpServers.list(gone)).toEqual([]);
  for (const scope of [`project:${gone}`, `project:${gone}:ro`] as const) {
    const [id, hash] = [crypto.randomUUID(), crypto.randomUUID()];
    expect(await ports.tokens.put({ id, hash, name: 't', scope, masked: '***', createdAt: at })).toBe(false);
    expect(await ports.tokens.get(hash)).toBeUndefined();
  }
  const ended = newSession({ project: gone, status: 'completed' });
  await onTable(fixture.table).workspaces.create(workspaceOf(ended));
  const snapshot = { id: crypto.randomUUID() as SnapshotId, project: gone, owner: ended.owner };
  const made = { ...snapshot, workspace: ended.workspace, session: ended.id, name: 's', at };
  expect(await ports.snapshots.create(made, { snapshotsMax: 50, audits: [] })).toBe('gone');
  expect(await ports.snapshots.list(gone)).toEqual([]);
});

test('its webhooks are deleted with it, those of others stay, and its pending deliveries are deleted', async () => {
  const { ports, rowsOf, tended } = openPorts();
  const [project, other] = [await newProject(ports), await newProject(ports)];
  const [own, others] = [newWebhook({ project }), newWebhook({ project: other })];
  for (const webhook of [own, others]) {
    const { version } = await ports.webhooks.list();
    expect(await ports.webhooks.create(webhook, { secret: 's', version })).toBe('created');
  }
  await decideDeletion(ports, project);
  expect(await forgetProject(ports, project)).toBe(true);
  expect(await ports.webhooks.get(own.id)).toBeUndefined();
  expect(await ports.webhooks.get(others.id)).toEqual(others);
  expect(tended).toEqual([own.id]);
  expect((await rowsOf(project)).map(({ action, subject }) => [action, subject])).toEqual([
    ['webhook.delete', own.id],
  ]);
});

test('a workspace with a name is not made in it, whoever read it before (WS5)', async () => {
  const { ports } = openPorts();
  const project = await newProject(ports);
  const workspaces = makeWorkspaceStore(fixture.table);
  const named = () => newNamed(project);
  expect(await workspaces.makeNamed(named())).toBe(true);
  await decideDeletion(ports, project);
  expect(await workspaces.makeNamed(named())).toBe(false);
  await ports.projects.remove(project, at);
  expect(await workspaces.makeNamed(named())).toBe(false);
  expect((await workspaces.listNamed(project, { itemsMax: 10 })).workspaces).toHaveLength(1);
});

test('a session that a caller made in it and left, since it died, ends with it, and its workspace goes', async () => {
  const { ports } = openPorts();
  const project = await newProject(ports);
  const session = newSession({ project });
  await ports.sessions.create(session, { workspace: { ...workspaceOf(session), isNamed: true } });
  await decideDeletion(ports, project);
  expect(await forgetProject(ports, project)).toBe(true);
  expect((await ports.sessions.get(session.id))?.status).toBe('completed');
  expect(await ports.workspaces.get(session.workspace)).toBeUndefined();
});
