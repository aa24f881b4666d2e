/** Sessions and workspaces as the conformance tests make them: valid, small, each under ids of its own. */

import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { makeEventLog } from '#shared/adapters/aws/dynamo/event-log.ts';
import { makeInbox } from '#shared/adapters/aws/dynamo/inbox.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeSlotStore } from '#shared/adapters/aws/dynamo/slots.ts';
import type { Item, Table } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import type { LogEntry } from '#shared/domain/event-log.ts';
import type { MessageId, OwnerId, ProjectId, SessionId, TurnId, WorkspaceId } from '#shared/domain/ids.ts';
import type { SandboxRecord, Workspace } from '#shared/domain/sandbox.ts';
import type { Session } from '#shared/domain/session.ts';
import type { InboxMessage } from '#shared/ports/inbox.ts';
import type { TurnCommit } from '#shared/ports/turn-store.ts';

export const inboxLimits = { slotsMax: 10, conversationsMax: 100 };

/** For what is put off: no test looks as late as this. */
export const farAway = 9_000_000_000_000;

/** A sign of life where sessions without an idle time of their own have this one. */
export const activeAt = (at: number, idleMs: number) => ({
  at,
  lifetimes: { idleMs, executionIdleMs: idleMs, historyMs: farAway, pausedMs: farAway, waitStopMs: idleMs },
});

export const newSession = (change: Partial<Session> = {}): Session => ({
  id: crypto.randomUUID() as SessionId,
  owner: crypto.randomUUID() as OwnerId,
  project: crypto.randomUUID() as ProjectId,
  workspace: crypto.randomUUID() as WorkspaceId,
  kind: 'agent',
  status: 'created',
  flavor: 'micro',
  template: 'python',
  provider: 'demo',
  model: 'demo',
  approvals: 'ask',
  grants: [],
  usage: { inputTokens: 0, outputTokens: 0 },
  costUsd: 0,
  depth: 0,
  allowSmallerFlavor: false,
  createdAt: 1000,
  lastActiveAt: 1000,
  runningCalls: {},
  lastSeq: -1,
  workSeq: 0,
  lease: { holder: '', fence: 0, until: 0 },
  ...change,
});

export const newExecution = (change: Partial<Session> = {}): Session =>
  newSession({ kind: 'execution', status: 'creating', ...change });

export const workspaceOf = ({ id, owner, project, workspace, createdAt }: Session): Workspace => ({
  id: workspace,
  owner,
  project,
  createdAt,
  users: [id],
});

export const newSandbox = (change: Partial<SandboxRecord> = {}): SandboxRecord => ({
  generation: 1,
  state: 'starting',
  flavor: 'micro',
  template: 'python',
  requestedAt: 5000,
  source: 'cold',
  ...change,
});

export const message = (messageId: string, acceptedAt = 2000): InboxMessage => ({
  messageId: messageId as MessageId,
  text: 'hello',
  acceptedAt,
  correlationId: 'c',
});

export const note = (text: string): LogEntry => ({ type: 'system', data: { kind: 'note', text } });

/** The last step of a turn, by the holder of the lease. */
export const commitOf = (session: Session, change: Partial<TurnCommit> = {}): TurnCommit => ({
  session,
  fence: session.lease.fence,
  version: 0,
  state: { kind: 'done', turnId: 't' as TurnId, stopReason: 'end_turn' },
  historyNext: 0,
  historyFrom: 0,
  historyKept: 0,
  at: 20,
  log: [note('one')],
  history: [],
  release: false,
  wakes: false,
  dueAt: 5000,
  ...change,
});

/** As many calls at once, each told its number. */
export const atOnce = <T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => call(index)));

/** Counts by answer. */
export const tally = (answers: readonly (string | boolean)[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const answer of answers) counts[String(answer)] = (counts[String(answer)] ?? 0) + 1;
  return counts;
};

/** The stores of one table, and what a test does with them again and again. */
export const onTable = (table: Table) => {
  const sessions = makeSessionStore(table);
  const stores = { turns: makeTurnStore(table), eventLog: makeEventLog(table), inbox: makeInbox(table) };
  const workspaces = makeWorkspaceStore(table);
  const slots = makeSlotStore(table);
  const readWorkspace = async (id: WorkspaceId): Promise<Workspace> => {
    const workspace = await workspaces.get(id);
    if (workspace === undefined) throw new Error(`workspace ${id} is not in the table`);
    return workspace;
  };
  const makeWorkspace = async (change: Partial<Workspace> = {}): Promise<Workspace> => {
    const workspace = { ...workspaceOf(newSession()), ...change };
    await workspaces.create(workspace);
    return workspace;
  };
  return {
    ...stores,
    sessions,
    workspaces,
    slots,
    readWorkspace,
    makeWorkspace,
    /** A workspace whose sandbox is in that state, made by the steps that lead there. */
    workspaceIn: async (
      state: SandboxRecord['state'],
      change: Partial<Workspace> = {},
    ): Promise<Workspace> => {
      // Nobody starts a sandbox where nobody is: who does not stay leaves at the end.
      const isDeserted = change.users?.length === 0 && change.id === undefined;
      const { id, users } = await makeWorkspace(
        isDeserted ? { ...change, users: [newSession().id] } : change,
      );
      await workspaces.claimStart(id, newSandbox());
      if (state !== 'starting') {
        await workspaces.recordAddress(id, 1, { taskArn: 'task-1', address: 'http://127.0.0.1:1' });
        await workspaces.markReady(id, 1, { at: 6000 });
      }
      if (state === 'stopping' || state === 'stopped')
        await workspaces.markStopping(id, 1, { reason: 'idle', at: 7000, dueAt: 7500 });
      if (state === 'stopped') await workspaces.markStopped(id, 1, { reason: 'exit code 0', at: 8000 });
      if (isDeserted) for (const user of users) await workspaces.leave(id, user);
      return readWorkspace(id);
    },
    create: async (session: Session = newSession()): Promise<Session> => {
      await sessions.create(session, { workspace: workspaceOf(session) });
      return session;
    },
    /** As it stands in the table now. */
    read: async (id: SessionId): Promise<Session> => {
      const session = await sessions.get(id);
      if (session === undefined) throw new Error(`session ${id} is not in the table`);
      return session;
    },
    /** Ends it and deletes what is left. */
    remove: async (id: SessionId): Promise<boolean> => {
      const session = await sessions.get(id);
      if (session !== undefined)
        await sessions.end(session, { status: 'completed', at: 9000, dueAt: farAway });
      return sessions.forget(id, 9000);
    },
    item: async (key: { readonly pk: string; readonly sk: string }): Promise<Item | undefined> => {
      const { Item } = await table.client.send(
        new GetCommand({ TableName: table.name, Key: key, ConsistentRead: true }),
      );
      return Item;
    },
    isSessionDue: async (id: SessionId, now: number): Promise<boolean> =>
      (await sessions.due(now, 10_000)).some((session) => session.id === id),
    isWorkspaceDue: async (id: WorkspaceId, now: number): Promise<boolean> =>
      (await workspaces.due(now, 10_000)).some((workspace) => workspace.id === id),
    liveIds: async (): Promise<readonly WorkspaceId[]> => {
      const ids: WorkspaceId[] = [];
      for await (const page of workspaces.live()) ids.push(...page.map(({ id }) => id));
      return ids;
    },
  };
};
