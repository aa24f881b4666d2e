/**
 * A busy day as priced amounts: sessions that work, each with an open page and a sandbox that runs for an hour.
 *
 * `npm run bench -- day` does this work on the embedded cloud and compares its calls with the counts below: none may be higher.
 */
import type { FunctionName } from '#shared/config/environment.ts';
import { type FlavorName, type FunctionMemory, type Item, itemsOf, sandboxItems } from './bill.ts';
import type { PriceName } from './prices.ts';
import { logBytesOfRun } from './work.ts';

export const busyDay = { sessions: 100, turns: 5, hours: 1, flavor: 'small' } as const satisfies {
  readonly sessions: number;
  /** Of a session, each with one call of a tool. */
  readonly turns: number;
  /** Of a session, with its sandbox and its connection. */
  readonly hours: number;
  readonly flavor: FlavorName;
};

type Counted = {
  /** As the bench counts it. */
  readonly ofSession: number;
  /** The functions that run for it; the seconds are assumed, since a model and a cloud take longer than the bench. */
  readonly runs?: readonly (readonly [name: FunctionName, seconds: number])[];
  readonly amounts?: Readonly<Partial<Record<PriceName, number>>>;
};

/** A tool works for two seconds, a save takes one. */
const link = [['sandbox-link', 2]] as const;

export const countedOfDay: Readonly<Record<string, Counted>> = {
  'requests of the REST API': {
    ...{ ofSession: 3, runs: [['api', 0.2]], amounts: { restRequest: 1, cdnRequest: 1 } },
  },
  connections: {
    ofSession: 1,
    runs: [
      ['authorizer', 0.1],
      ['socket', 0.2],
    ],
    amounts: { cdnRequest: 1, socketMinute: 60 * busyDay.hours },
  },
  'frames of clients': { ofSession: 5, runs: [['socket', 0.2]], amounts: { socketMessage: 1 } },
  'frames to clients': { ofSession: 45, amounts: { socketMessage: 1 } },
  'on-connected, by socket': { ofSession: 1, runs: [['on-connected', 0.2]] },
  'turn, by socket': { ofSession: 5, runs: [['turn', 16]] },
  'sandbox-link, by turn': { ofSession: 13, runs: link },
  'sandbox-link, by api': { ofSession: 1, runs: link },
  'sandbox-link, by janitor': { ofSession: 1, runs: link },
  'janitor, by api': { ofSession: 1, runs: [['janitor', 5]] },
  // A task tells of its start and its end in six events. ECS has no price for its calls.
  'ecs:RunTask': { ofSession: 1, runs: Array.from({ length: 6 }, () => ['task-events', 0.2] as const) },
  'ecs:DescribeTasks': { ofSession: 4 },
  'ecs:StopTask': { ofSession: 1 },
  'ecs:ListTasks': { ofSession: 1 },
  'objects written': { ofSession: 11, amounts: { objectWrite: 1 } },
  'table: read units': { ofSession: 125, amounts: { tableReadUnit: 1 } },
  'table: write units': { ofSession: 520, amounts: { tableWriteUnit: 1 } },
};

/** A model streams for ten seconds in batches of 50 ms, which the bench’s does not. */
const framesOfText = 200;

export const busyDayItems = (memory: FunctionMemory): readonly Item[] => [
  ...Object.entries(countedOfDay).flatMap(([what, { ofSession, runs = [], amounts = {} }]) =>
    itemsOf(
      what,
      {
        runs: runs.map(([name, seconds]) => ({ name, seconds, count: 1 })),
        amounts: { ...amounts, trace: runs.length },
        logBytes: runs.length * logBytesOfRun,
      },
      { times: ofSession * busyDay.sessions, memory },
    ),
  ),
  {
    ...{ what: 'frames to clients', price: 'socketMessage' },
    amount: framesOfText * busyDay.turns * busyDay.sessions,
  },
  ...sandboxItems('sandboxes', busyDay.flavor, busyDay.hours * busyDay.sessions),
];
