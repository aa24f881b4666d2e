/**
 * The platform's ports for a test of one use case: the real stores on the table in memory, a clock that only sleep
 * moves, and a world around it in which nothing fails unless the test says so. Every request to the table is counted.
 */

import { makeApprovalStore } from '#shared/adapters/aws/dynamo/approvals.ts';
import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeEventLog } from '#shared/adapters/aws/dynamo/event-log.ts';
import { makeInbox } from '#shared/adapters/aws/dynamo/inbox.ts';
import { makeProcessStore } from '#shared/adapters/aws/dynamo/process-store.ts';
import { makeProjectStore } from '#shared/adapters/aws/dynamo/project-store.ts';
import { makeSandboxLog } from '#shared/adapters/aws/dynamo/sandbox-log.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeSlotStore } from '#shared/adapters/aws/dynamo/slots.ts';
import { makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import { makeEnvironments } from '#shared/adapters/aws/environments.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { MetricName } from '#shared/domain/metrics.ts';
import type { Sockets } from '#shared/ports/connections.ts';
import type { Invoker } from '#shared/ports/invoker.ts';
import type { SandboxHost, SandboxLink, SandboxTools } from '#shared/ports/sandbox.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import type { SaveOutcome, WorkspaceArchive } from '#shared/ports/workspace-archive.ts';
import type { World } from '#shared/ports/world.ts';
import { type Command, type MemoryTable, openMemoryTable, tableOver } from './memory-table.ts';

/** The product's own. */
export const lifetimes = {
  idleMs: 900_000,
  executionIdleMs: 900_000,
  historyMs: 86_400_000,
  pausedMs: 604_800_000,
  waitStopMs: 900_000,
};

const address = 'http://10.42.0.9:8080';
const unchanged: SaveOutcome = { status: 'unchanged', leftOut: [], logs: [] };

/** Waits for the abort. A sleep with a signal runs beside other work, so the clock does not advance for it. */
const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

export const openQuietPorts = (memory: MemoryTable = openMemoryTable()) => {
  const clock = { now: 1_000_000 };
  const requests: Command[] = [];
  const counted: Partial<Record<MetricName, number>> = {};
  const warned: string[] = [];
  const invoked: string[] = [];
  const hooks = { before: async (_command: Command): Promise<void> => undefined };
  const table = tableOver(async (command) => {
    await hooks.before(command);
    requests.push(command);
    return memory.execute(command).output;
  });
  const world: World = {
    now: () => clock.now,
    uuid: () => crypto.randomUUID(),
    sha256: (text) => text,
    sleep: async (milliseconds, signal) => {
      if (signal !== undefined) return ended(signal);
      clock.now += Math.ceil(milliseconds);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const telemetry: Telemetry = {
    info: () => undefined,
    warn: (message) => void warned.push(message),
    error: (message) => void warned.push(message),
    count: (metric, value = 1) => {
      counted[metric] = (counted[metric] ?? 0) + value;
    },
    duration: () => undefined,
  };
  const noted = (what: string) => async (id?: string) => void invoked.push(`${what} ${id ?? ''}`.trim());
  const invoker: Invoker = {
    runTurn: noted('turn'),
    stopSandbox: noted('stop'),
    fillPool: noted('pool'),
    checkMcpServer: noted('check'),
    holdRelay: ({ workspaceId }) => noted('relay')(workspaceId),
    connected: noted('greet'),
  };
  const sockets: Sockets = { post: async () => 'sent', close: async () => undefined };
  const host: SandboxHost = {
    start: async ({ token }) => {
      const [id = '', generation = ''] = token.split(':');
      const taskArn = `task ${token}`;
      await workspaces.recordAddress(id as WorkspaceId, Number(generation), { taskArn, address });
      return taskArn;
    },
    stop: async (taskArn) => {
      invoked.push(`StopTask ${taskArn}`);
      return undefined;
    },
    running: async function* () {},
    describe: async () => [],
  };
  const link: SandboxLink = { fetch: async () => new Response('{}') };
  const tools: SandboxTools = {
    call: async () => ({ status: 'finished', content: [], structured: { stdout: 'done' } }),
    callFor: async () => ({ status: 'finished', content: [], structured: { stdout: 'done' } }),
    cancel: async () => undefined,
  };
  const archive: WorkspaceArchive = {
    keepsShared: false,
    mountsShared: false,
    save: async () => unchanged,
    restore: async () => ({ status: 'restored', files: 0, missing: [] }),
    adopt: () => Promise.reject(new Error('nothing is restored here')),
    compare: () => Promise.reject(new Error('nothing is tried here')),
    apply: () => Promise.reject(new Error('nothing is tried here')),
    remove: async () => undefined,
    forget: async () => undefined,
  };
  const workspaces = makeWorkspaceStore(table);
  const ports = {
    sessions: makeSessionStore(table),
    turns: makeTurnStore(table),
    eventLog: makeEventLog(table),
    modelPrices: {},
    inbox: makeInbox(table),
    workspaces,
    slots: makeSlotStore(table),
    trees: makeTreeStore(table),
    connections: makeConnectionStore(table),
    approvals: makeApprovalStore(table),
    webhooks: makeWebhookStore(table),
    noticeSender: {
      sendNotices: async (ids: readonly string[]) => void invoked.push(`notices ${ids.length}`),
    },
    callers: makeCallerStore(table),
    projects: makeProjectStore(table),
    processes: makeProcessStore(table),
    sandboxLog: makeSandboxLog(table),
    correlation: { id: () => 'quiet', follow: () => undefined },
    ...{ world, telemetry, invoker, sockets, host, link, tools, archive },
    environments: makeEnvironments(table, 'a secret'),
    sandboxAuthority: { certificate: () => 'the certificate of an authority' },
    poolSize: 0,
    slotLimits: { executionMax: 10, agentMax: 10, conversationsMax: 100, evictsIdle: true },
    lifetimes,
    bearerHash: (workspace: WorkspaceId, generation: number) => `bearer of ${workspace}:${generation}`,
  };
  return {
    ...{ ports, table, memory, clock, counted, warned, invoked, hooks },
    /** Names of the table requests since the last call. */
    takeRequests: (): readonly string[] =>
      requests.splice(0).map(({ constructor: { name } }) => name.replace('Command', '')),
  };
};
