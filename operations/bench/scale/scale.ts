/**
 * `npm run bench -- scale`: what many concurrent sessions need, which quota breaks first, what a cold or a warm start waits
 * for, and what it costs. Table writes are measured in this run, quotas are documented, and the rest is the workload.
 */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { flavors } from '#shared/domain/flavor.ts';
import { costOf } from '#shared/domain/price.ts';
import { sandboxHour } from '../../cost/bill.ts';
import { hoursOfMonth } from '../../cost/prices.ts';
import { type BenchResult, table } from '../report.ts';
import { measureTurns } from '../turn-cost.ts';
import { breakingPoints, needOfSession, type Session, type TurnWrites } from './demand.ts';
import { emptyShare, poolFor, waitsOfBurst } from './launch-queue.ts';
import { coldStartSeconds, launchBurst, poolSizeMax, type QuotaName, quotas } from './quotas.ts';
import { busySession, modelCallsPerHour, type Workload } from './workload.ts';

const sizes = [1000, 10_000, 100_000];
const flavor = 'micro';
const model = { provider: 'anthropic', model: 'claude-sonnet-5-5' } as const;
const coldShareMax = 0.01;
const launches = {
  burst: launchBurst,
  perSecond: quotas.fargateLaunches.amount,
  startSeconds: coldStartSeconds,
};

export const scale = async (): Promise<BenchResult> => {
  const [plain, , withCall] = await measureTurns();
  const writes = { withoutTools: plain.writeUnits, withOneCall: withCall.writeUnits };
  const session = { workload: busySession, writes, sandboxVcpus: flavors[flavor].task.cpuUnits / 1024 };
  return {
    title: 'concurrent sessions: need, quotas, waiting and cost',
    text: [
      measured(writes),
      assumed(busySession),
      needs(session),
      bursts(),
      pools(),
      providerBursts(busySession),
      costs(busySession, await readUnitPrices()),
    ].join('\n\n'),
    floor: 'a model: it asserts nothing',
    isMet: true,
    failsNothing: true,
  };
};

const measured = ({ withoutTools, withOneCall }: TurnWrites): string =>
  `measured in this run: ${withoutTools} write units in a turn without tools, ${withOneCall} with one approved call`;

const assumed = (workload: Workload): string =>
  `assumed of a session in use (flavor ${flavor}):\n${table(
    ['', ''],
    Object.entries(workload).map(([name, amount]) => [name, amount]),
  )}`;

const needs = (session: Session): string => {
  const need = needOfSession(session);
  return table(
    [
      'quota, the first to break first',
      'unit',
      'default',
      'breaks at',
      ...sizes.map((size) => `${count(size)} need`),
    ],
    breakingPoints(session).map(({ quota, sessions }) => {
      const { name, unit, amount } = quotas[quota];
      return [name, unit, count(amount), count(sessions), ...sizes.map((size) => count(size * need[quota]))];
    }),
  );
};

const bursts = (): string =>
  table(
    ['sandboxes asked for at once', 'warm', 'median wait, s', '95 % wait, s', 'longest wait, s'],
    [10, 100, 1000, 10_000].flatMap((sandboxes) =>
      [0, 50].map((pool) => {
        const { half, most, last } = waitsOfBurst(sandboxes, pool, launches);
        return [count(sandboxes), pool, count(half), count(most), count(last)];
      }),
    ),
  );

/** Half of a pool serves agents, half executions, unless both have one flavor. */
const pools = (): string =>
  table(
    [
      'starts a second',
      `cold with ${poolSizeMax} warm`,
      `warm for ${percent(coldShareMax)} cold`,
      `dollars a month of them (${flavor})`,
    ],
    [0.1, 0.28, 1, 2.8, 10, 20, 27.8].map((startsPerSecond) => {
      const pool = poolFor(startsPerSecond, launches, coldShareMax);
      return [
        startsPerSecond,
        percent(emptyShare(poolSizeMax, startsPerSecond, coldStartSeconds)),
        pool === undefined ? 'launches cannot keep up' : count(pool),
        pool === undefined ? '' : count(pool * sandboxHour(flavor) * hoursOfMonth),
      ];
    }),
  );

const limits: readonly QuotaName[] = ['modelRequests', 'modelInput', 'modelOutput'];

/** A first call has nothing in the provider's cache. */
const providerBursts = ({ freshInputTokens, cachedInputTokens, outputTokens }: Workload): string => {
  const ofCall = [1, freshInputTokens + cachedInputTokens, outputTokens];
  return table(
    ['turns begun at once', ...limits.map((limit) => `minutes by ${quotas[limit].name}`)],
    sizes.map((size) => [
      count(size),
      ...limits.map((limit, index) => ((size * (ofCall[index] ?? 0)) / quotas[limit].amount).toFixed(1)),
    ]),
  );
};

type UnitPrices = { readonly thousandTurns: number; readonly relayHour: number };

/** Of the templates, in a process of its own: a bench imports no infrastructure. */
const readUnitPrices = async (): Promise<UnitPrices> => {
  const program = join(import.meta.dirname, '..', '..', 'cost', 'main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--json']);
  return JSON.parse(stdout) as UnitPrices;
};

const costs = (workload: Workload, { thousandTurns, relayHour }: UnitPrices): string => {
  const relayHours =
    (workload.turnsPerHour * (workload.turnSeconds + workload.relayIdleSeconds) * workload.networkShare) /
    3600;
  const tokens = {
    inputTokens: workload.freshInputTokens + workload.cachedInputTokens,
    cachedInputTokens: workload.cachedInputTokens,
    outputTokens: workload.outputTokens,
  };
  const perHour = {
    'Fargate, while the sandbox runs': workload.sandboxShare * sandboxHour(flavor),
    'turns: functions, table, sockets': (workload.turnsPerHour * thousandTurns) / 1000,
    'the relay, of sessions with a network': relayHours * relayHour,
    [`the model (${model.model}), to its provider`]: modelCallsPerHour(workload) * costOf(model, tokens).usd,
  };
  const together = Object.values(perHour).reduce((sum, usd) => sum + usd, 0);
  return table(
    ['dollars an hour', 'one session', ...sizes.map(count)],
    Object.entries({ ...perHour, together }).map(([what, usd]) => [
      what,
      usd.toFixed(4),
      ...sizes.map((size) => count(size * usd)),
    ]),
  );
};

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

const count = (amount: number): string => {
  if (!Number.isFinite(amount)) return 'never';
  return amount < 10 ? String(Number(amount.toPrecision(2))) : Math.round(amount).toLocaleString('en');
};
