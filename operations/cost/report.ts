/** The bill as text: a first line for machines, the items of each stage side by side, then the cost of use. */
import { type Bill, billOf, type FlavorName, itemsOf, sandboxHour, taskSizes, usdOf } from './bill.ts';
import { busyDay, busyDayItems } from './busy-day.ts';
import { memoryIn, resourcesOf, type Templates } from './idle-bill.ts';
import { hoursOfMonth, minutesOfMonth, prices } from './prices.ts';
import { reconnecting, relayHour, storedGb, terminalHour, turn } from './work.ts';

export type StageBill = { readonly stage: string; readonly bill: Bill; readonly templates: Templates };

/** The first stage is the default one. */
export const reportOf = (stages: readonly [StageBill, ...StageBill[]]): string => {
  const [{ bill, templates }] = stages;
  return [
    `idle: ${dollars(bill.usd)} a month`,
    '',
    ...itemised(stages),
    '',
    `Free each month, once per account: without the free tier the bill is ${dollars(bill.usd + bill.freeUsd)}.`,
    '',
    `1,000 turns: ${dollars(thousandTurns(templates))}, each with one call of a tool and ten seconds of a model, which is paid to its provider`,
    ...busyDayOf(templates),
    `a session-hour with a sandbox: ${sandboxHours()}; without one: nothing`,
    `an hour of a relay that is held, for a sandbox with a network in use: $${heldRelay(templates).toFixed(4)}; at rest: nothing`,
    `an hour of an attached terminal: $${attachedTerminal(templates).toFixed(4)}; a connection has 16 at most`,
    `a registered MCP server that never connects: up to ${dollars(reconnectingMonth(templates))} a month; a key that rotates: $1 a month more after its first and its second year`,
    '',
    `Prices of us-east-1 as of ${datesOf().join(' and ')} (operations/cost/prices.ts), a month of ${hoursOfMonth} hours; stored are ${storedGb.table} GB`,
    `in the table and ${storedGb.checkpoints} GB of checkpoints. Scheduled work is counted as in operations/cost/work.ts.`,
  ].join('\n');
};

export const unitPrices = ({ bill, templates }: StageBill) => ({
  idleMonth: bill.usd,
  thousandTurns: thousandTurns(templates),
  relayHour: heldRelay(templates),
});

export const thousandTurns = (templates: Templates): number =>
  usdOf(itemsOf('turns', turn, { times: 1000, memory: memoryIn(resourcesOf(templates)) }));

/** The free tier is that of the rest. */
export const busyDayBill = (
  templates: Templates,
): { readonly usd: number; readonly lines: Bill['lines'] } => {
  const { lines, usd, freeUsd } = billOf(busyDayItems(memoryIn(resourcesOf(templates))));
  return { lines, usd: usd + freeUsd };
};

const busyDayOf = (templates: Templates): readonly string[] => {
  const { usd, lines } = busyDayBill(templates);
  const { sessions, turns, hours, flavor } = busyDay;
  return [
    `a day of ${sessions} sessions, each with ${turns} turns and ${hours} hour of a ${flavor} sandbox and of an open page: ${dollars(usd)} beside the rest (npm run bench -- day counts its calls)`,
    ...lines
      .filter((line) => line.usd >= centMin)
      .map((line) => `  ${line.what.padEnd(32)}${amount(line.usd).padStart(8)}`),
  ];
};

const centMin = 0.005;

const heldRelay = (templates: Templates): number =>
  usdOf(itemsOf('relay', relayHour, { times: 1, memory: memoryIn(resourcesOf(templates)) }));

const attachedTerminal = (templates: Templates): number =>
  usdOf(itemsOf('terminal', terminalHour, { times: 1, memory: memoryIn(resourcesOf(templates)) }));

const reconnectingMonth = (templates: Templates): number =>
  usdOf(
    itemsOf('reconnecting', reconnecting, {
      times: minutesOfMonth,
      memory: memoryIn(resourcesOf(templates)),
    }),
  );

const itemised = (stages: readonly StageBill[]): readonly string[] => {
  const words = [...new Set(stages.flatMap(({ bill }) => bill.lines.map(({ what }) => what)))];
  const row = (what: string, textOf: (stage: StageBill) => string): string =>
    `${what.padEnd(34)}${stages.map((stage) => textOf(stage).padStart(12)).join('')}`;
  return [
    row('dollars a month', ({ stage }) => stage),
    ...words.map((what) =>
      row(what, ({ bill }) => amount(bill.lines.find((line) => line.what === what)?.usd ?? 0)),
    ),
    row('always free', ({ bill }) => amount(-bill.freeUsd)),
    row('together', ({ bill }) => amount(bill.usd)),
  ];
};

const sandboxHours = (): string =>
  (Object.keys(taskSizes) as FlavorName[])
    .map((flavor) => `${flavor} $${sandboxHour(flavor).toFixed(4)}`)
    .join(', ');

const datesOf = (): readonly string[] =>
  [...new Set(Object.values(prices).map(({ asOf }) => asOf))].toSorted();

const amount = (usd: number): string => usd.toFixed(2);
const dollars = (usd: number): string => `$${amount(usd)}`;
