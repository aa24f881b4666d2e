/**
 * Work of the platform as priced amounts: a sweep, a synthetic check, a turn, and the metrics of an idle hour.
 *
 * Calls of the table are those that `npm run bench` counts, in units: a write in a transaction counts twice, and
 * once more for an index. Times are assumed, and generous; the model provider's price is not included.
 */
import type { FunctionName } from '#shared/config/environment.ts';
import type { PriceName } from './prices.ts';

export type Run = { readonly name: FunctionName; readonly count: number; readonly seconds: number };

export type Work = {
  readonly runs: readonly Run[];
  readonly amounts: Readonly<Partial<Record<PriceName, number>>>;
  readonly logBytes: number;
};

/** One line of metrics and one of the runtime's own. */
export const logBytesOfRun = 1500;

/** Shards of an index that a sweep reads of all its kinds. */
const shardsRead: Readonly<Record<string, number>> = { due: 28, orphans: 20 };
const shardsReadOfOthers = 8;

/** Nothing is due: one query of each shard, half a unit each. */
export const sweepOf = (name: FunctionName, sweep: string): Work => ({
  runs: [{ name, count: 1, seconds: 0.2 }],
  amounts: { tableReadUnit: (shardsRead[sweep] ?? shardsReadOfOthers) / 2, trace: 1 },
  logBytes: logBytesOfRun,
});

/** Through the REST API with its own token: token, session, message, reads of the log, end. */
export const checkedTurn: Work = {
  runs: [
    { name: 'synthetic', count: 1, seconds: 1.5 },
    { name: 'api', count: 6, seconds: 0.1 },
    { name: 'turn', count: 1, seconds: 0.5 },
  ],
  amounts: { tableReadUnit: 30, tableWriteUnit: 50, restRequest: 6, cdnRequest: 6, trace: 8 },
  logBytes: 8 * logBytesOfRun,
};

/** An image pull asks for a dozen names, some several times. */
const dnsQueriesOfSandbox = 50;
/** Packets of a pull and of a link, where all of them are recorded. */
const flowLogBytesOfSandbox = 100_000;

/** The same with one tool call: a task of the smallest size from its start to its stop. */
export const checkedSandbox: Work = {
  runs: [
    { name: 'synthetic', count: 1, seconds: 60 },
    { name: 'api', count: 16, seconds: 0.1 },
    { name: 'turn', count: 1, seconds: 55 },
    { name: 'sandbox-link', count: 4, seconds: 2 },
    { name: 'task-events', count: 6, seconds: 0.2 },
    { name: 'janitor', count: 2, seconds: 5 },
  ],
  amounts: {
    tableReadUnit: 100,
    tableWriteUnit: 120,
    restRequest: 16,
    cdnRequest: 16,
    objectWrite: 4,
    trace: 32,
    fargateVcpuArm: 0.5 * (2 / 60),
    fargateGbArm: 2 / 60,
    dnsQuery: dnsQueriesOfSandbox,
  },
  logBytes: 32 * logBytesOfRun + flowLogBytesOfSandbox,
};

/** One tool call, ten seconds of a model that streams in batches of 50 ms, and one open socket. */
export const turn: Work = {
  runs: [
    { name: 'socket', count: 2, seconds: 0.2 },
    { name: 'turn', count: 2, seconds: 8 },
    { name: 'sandbox-link', count: 2, seconds: 3 },
  ],
  amounts: { tableReadUnit: 20, tableWriteUnit: 100, socketMessage: 220, objectWrite: 2, trace: 6 },
  logBytes: 6 * logBytesOfRun,
};

/** A relay that is held: two invocations of a quarter of an hour after each other, and its records read every 20 s. */
export const relayHour: Work = {
  runs: [
    { name: 'relay', count: 4, seconds: 900 },
    { name: 'sandbox-link', count: 4, seconds: 900 },
  ],
  amounts: { tableReadUnit: 360, tableWriteUnit: 180, trace: 8 },
  logBytes: 8 * logBytesOfRun,
};

/** An attached terminal: two invocations of a quarter of an hour after each other, with five calls to the table every 20 s. */
export const terminalHour: Work = {
  runs: [
    { name: 'terminal', count: 4, seconds: 900 },
    { name: 'sandbox-link', count: 4, seconds: 900 },
  ],
  amounts: { tableReadUnit: 720, tableWriteUnit: 180, trace: 8 },
  logBytes: 8 * logBytesOfRun,
};

/** A registered MCP server that never connects keeps the janitor trying for most of each minute. */
export const reconnecting: Work = {
  runs: [{ name: 'janitor', count: 1, seconds: 50 }],
  amounts: {},
  logBytes: logBytesOfRun,
};

/** Stored data of a deployment that has been used: images of six releases, which `npx cdk gc` deletes, and 90 days of access logs. */
export const storedGb = { table: 1, checkpoints: 5, images: 3, otherBuckets: 0.1 };

/** Custom metrics with a value in every idle hour, billed by the month. `tests/e2e/idle-metrics.test.ts` compares them. */
export const sweepMetrics: readonly string[] = ['SandboxesRunning', 'SweepDue'];

/** Metrics of the synthetic check, and of its turns and its sandbox. */
export const checkMetrics: readonly string[] = [
  'FirstDeltaMs',
  'SandboxColdStartMs',
  'SyntheticSandboxMs',
  'SyntheticTurnMs',
  'ToolCallMs',
  'TurnDurationMs',
  'TurnsStarted',
  'WorkspaceSaveMs',
];
