/**
 * The cost of a sweep among many: the same 100 due sessions, once beside 1,000 others and once beside 100,000; and the cost of
 * many due ones, in one sweep. Counted in calls and read units of the table: it must grow neither with the others nor per
 * due session.
 */

import { randomUUID } from 'node:crypto';
import { makeApprovalStore } from '#shared/adapters/aws/dynamo/approvals.ts';
import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeEventLog } from '#shared/adapters/aws/dynamo/event-log.ts';
import { makeInbox } from '#shared/adapters/aws/dynamo/inbox.ts';
import { makeProcessStore } from '#shared/adapters/aws/dynamo/process-store.ts';
import { makeSandboxLog } from '#shared/adapters/aws/dynamo/sandbox-log.ts';
import { sessionItem } from '#shared/adapters/aws/dynamo/session-items.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { dueValues, type Item } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { workspaceItem } from '#shared/adapters/aws/dynamo/workspace-items.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import type { SweepDeps } from '#shared/application/janitor/sweep-due-records.ts';
import { sweep } from '#shared/application/janitor/sweep-in-rounds.ts';
import type { SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import { defaultProject, deploymentOwner } from '#shared/domain/principal.ts';
import type { Session } from '#shared/domain/session.ts';
import { openCountedTable, readOperations } from './counted-table.ts';
import { type BenchResult, table } from './report.ts';

const due = 100;
const crowds = [1000, 100_000];
const idleMs = 900_000;
const lifetimes = {
  idleMs,
  executionIdleMs: 1_800_000,
  historyMs: 86_400_000,
  pausedMs: 604_800_000,
  waitStopMs: 900_000,
};

const dueCounts = [100, 1000];
/** A session costs in a long sweep what it costs in a short one, but for the reads of the last round. */
const growthMax = 1.05;

type SweepCost = { readonly readCalls: number; readonly writeCalls: number; readonly readUnits: number };

export const sweepCost = async (): Promise<BenchResult> => {
  const costs: SweepCost[] = [];
  for (const crowd of crowds) costs.push(await measureSweep(crowd, due));
  const rows = costs.map(({ readCalls, writeCalls, readUnits }, index) => [
    crowds[index]?.toLocaleString('en') ?? '',
    readCalls,
    writeCalls,
    readUnits,
  ]);
  return {
    title: `a sweep of ${due} due sessions`,
    text: table(['sessions in the table', 'read calls', 'write calls', 'read units'], rows),
    floor: 'the same reads and writes, whatever else is in the table',
    isMet: new Set(costs.map((cost) => JSON.stringify(cost))).size === 1,
  };
};

export const backlogCost = async (): Promise<BenchResult> => {
  const costs: number[] = [];
  const rows: (string | number)[][] = [];
  for (const count of dueCounts) {
    const { readCalls, writeCalls } = await measureSweep(0, count);
    const cost = (readCalls + writeCalls) / count;
    costs.push(cost);
    rows.push([count.toLocaleString('en'), readCalls, writeCalls, cost.toFixed(2)]);
  }
  const [first = 0] = costs;
  return {
    title: 'a backlog, swept to its end',
    text: table(['due sessions', 'read calls', 'write calls', 'calls per session'], rows),
    floor: 'as many calls per session for 1,000 as for 100',
    isMet: costs.every((cost) => cost <= first * growthMax),
  };
};

export const measureSweep = async (crowd: number, dueCount: number): Promise<SweepCost> => {
  const counted = await openCountedTable();
  try {
    const now = Date.now();
    await counted.fill(crowdOf(crowd, now));
    await counted.fill(dueSessions(dueCount, { lastActiveAt: now - 2 * idleMs, now }));
    counted.reset();
    const report = await sweep(portsOver(counted.table, now), { lifetimes });
    if (report.due !== dueCount || report.failed > 0) throw new Error(`swept ${JSON.stringify(report)}`);
    const { calls, readUnits } = counted.counts();
    let [readCalls, writeCalls] = [0, 0];
    for (const [operation, count] of Object.entries(calls))
      if (readOperations.includes(operation)) readCalls += count;
      else writeCalls += count;
    return { readCalls, writeCalls, readUnits };
  } finally {
    await counted.close();
  }
};

/** Sessions whose moment is yet to come. */
function* crowdOf(count: number, lastActiveAt: number): Generator<Item> {
  for (let index = 0; index < count; index += 1) {
    const id = randomUUID() as SessionId;
    const workspace = randomUUID() as WorkspaceId;
    yield sessionItem(idleSession({ id, workspace, lastActiveAt, dueAt: lastActiveAt + idleMs }));
  }
}

/** Idle sessions with a ready sandbox each. */
function* dueSessions(
  count: number,
  { lastActiveAt, now }: { readonly lastActiveAt: number; readonly now: number },
): Generator<Item> {
  for (let index = 0; index < count; index += 1) {
    // The same ids in both measurements: they decide which shards of the index are read.
    const id = numbered(index) as SessionId;
    const workspace = numbered(index) as WorkspaceId;
    yield sessionItem(idleSession({ id, workspace, lastActiveAt, dueAt: lastActiveAt + idleMs }));
    const record = {
      id: workspace,
      owner: deploymentOwner,
      project: defaultProject,
      createdAt: now,
      users: [id],
      sandbox: {
        generation: 1,
        state: 'ready' as const,
        flavor: 'micro' as const,
        template: 'python' as const,
        source: 'cold' as const,
        requestedAt: lastActiveAt,
        readyAt: lastActiveAt,
      },
    };
    const { ':duePk': duePk } = dueValues('workspace', workspace, 0);
    yield { ...workspaceItem(record), duePk, dueAt: now + idleMs };
  }
}

const numbered = (index: number): string => `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;

const idleSession = (
  fields: Pick<Session, 'id' | 'workspace' | 'lastActiveAt'> & { readonly dueAt: number },
): Session => ({
  ...fields,
  owner: deploymentOwner,
  project: defaultProject,
  kind: 'agent',
  status: 'idle',
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
  createdAt: fields.lastActiveAt,
  runningCalls: {},
  lastSeq: -1,
  workSeq: 1,
  lease: { holder: '', fence: 1, until: 0 },
});

const nothing = (): Promise<void> => Promise.resolve();
const refuse = (): never => {
  throw new Error('a sweep of idle sessions does not go there');
};

/** The table is real; the functions and tasks that a sweep wakes or stops are not. */
const portsOver = (of: Parameters<typeof makeSessionStore>[0], now: number): SweepDeps => ({
  sessions: makeSessionStore(of),
  turns: makeTurnStore(of),
  eventLog: makeEventLog(of),
  inbox: makeInbox(of),
  workspaces: makeWorkspaceStore(of),
  correlation: { id: () => 'bench', follow: () => undefined },
  lifetimes,
  callers: makeCallerStore(of),
  trees: makeTreeStore(of),
  connections: makeConnectionStore(of),
  approvals: makeApprovalStore(of),
  webhooks: makeWebhookStore(of),
  noticeSender: { sendNotices: refuse },
  processes: makeProcessStore(of),
  sandboxLog: makeSandboxLog(of),
  sockets: { post: refuse, close: refuse },
  link: { fetch: refuse },
  archive: {
    keepsShared: false,
    mountsShared: false,
    save: refuse,
    restore: refuse,
    adopt: refuse,
    compare: refuse,
    apply: refuse,
    remove: refuse,
    forget: refuse,
  },
  host: { start: refuse, stop: async () => undefined, running: refuse, describe: refuse },
  invoker: {
    runTurn: nothing,
    stopSandbox: nothing,
    fillPool: nothing,
    checkMcpServer: nothing,
    holdRelay: nothing,
    connected: nothing,
  },
  telemetry: {
    info: () => undefined,
    warn: () => undefined,
    error: (message, fields) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
    count: () => undefined,
    duration: () => undefined,
  },
  // The time of a sweep is not over before its backlog is, and nothing becomes due in between.
  world: { ...systemWorld, now: () => now },
});
