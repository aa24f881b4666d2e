/**
 * The idle bill of a deployment: its cost a month without users, item by item, from its synthesised templates.
 *
 * If a template has a type of resource with neither a price nor a reason to be free, it is refused by the name of the type, so
 * that no NAT gateway is added by accident.
 */
import type { FunctionName } from '#shared/config/environment.ts';
import type { Resource, Template } from '../../infra/stacks/synthesise.ts';
import { type Bill, billOf, type FunctionMemory, type Item, itemsOf, sandboxItems } from './bill.ts';
import { hoursOfMonth, minutesOfMonth } from './prices.ts';
import { freeResources, pricedResources } from './resource-prices.ts';
import { checkedSandbox, checkedTurn, checkMetrics, sweepMetrics, sweepOf, type Work } from './work.ts';

export type Templates = Readonly<Record<string, Template>>;
type Resources = readonly (readonly [string, Resource])[];

export const idleBill = (templates: Templates): Bill => {
  const resources = resourcesOf(templates);
  refuseUnknown(resources);
  const memory = memoryIn(resources);
  const timed = resources.flatMap(([id, resource]) => timedWorkOf(id, resource) ?? []);
  const isChecked = timed.some(({ what }) => what.startsWith('synthetic'));
  const metrics = sweepMetrics.length + (isChecked ? checkMetrics.length : 0);
  const poolHours = poolSizeOf(resources) * hoursOfMonth;
  return billOf([
    ...resources.flatMap(([id, { Type, Properties = {} }]) => pricedResources[Type]?.(Properties, id) ?? []),
    ...timed.flatMap(({ what, work, timesAMonth }) => itemsOf(what, work, { times: timesAMonth, memory })),
    { what: 'custom metrics', price: 'customMetric', amount: metrics } satisfies Item,
    ...sandboxItems('warm pool', 'small', poolHours),
  ]);
};

export const resourcesOf = (templates: Templates): Resources =>
  Object.values(templates).flatMap(({ Resources }) => Object.entries(Resources));

const refuseUnknown = (resources: Resources): void => {
  const known = (type: string): boolean => type in freeResources || type in pricedResources;
  const unknown = new Set(resources.map(([, { Type }]) => Type).filter((type) => !known(type)));
  if (unknown.size > 0)
    throw new Error(
      `no price is known for ${[...unknown].join(', ')}: add it to operations/cost/resource-prices.ts, with its price or the reason why it is free`,
    );
};

/** Finds a function by its logical id, which contains its name. */
export const memoryIn =
  (resources: Resources): FunctionMemory =>
  (name) => {
    const pattern = new RegExp(`Functions${name.replaceAll('-', '')}Function[0-9A-F]{8}$`);
    const found = resources.find(([id, { Type }]) => Type === 'AWS::Lambda::Function' && pattern.test(id));
    if (found === undefined) throw new Error(`the template has no function ${name}`);
    return Number(found[1].Properties.MemorySize) / 1024;
  };

const poolSizeOf = (resources: Resources): number =>
  Math.max(
    0,
    ...resources.map(([, { Properties }]) => Number(Properties?.Environment?.Variables?.POOL_SIZE ?? 0)),
  );

/** Work by the clock: the rules of the template that have a rate. A rule whose work is unknown fails the bill. */
type TimedWork = { readonly what: string; readonly work: Work; readonly timesAMonth: number };

const minutes: Readonly<Record<string, number>> = {
  minute: 1,
  minutes: 1,
  hour: 60,
  hours: 60,
  day: 1440,
  days: 1440,
};

/** Undefined for other resources, and for rules without a schedule. */
const timedWorkOf = (id: string, { Type, Properties }: Resource): TimedWork | undefined => {
  if (Type !== 'AWS::Events::Rule') return undefined;
  const { ScheduleExpression, State, Targets = [] } = Properties;
  if (ScheduleExpression === undefined || State === 'DISABLED') return undefined;
  const [, count, unit = ''] = /^rate\((\d+) (\w+)\)$/.exec(ScheduleExpression) ?? [];
  const period = Number(count) * (minutes[unit] ?? Number.NaN);
  if (!(period > 0)) throw new Error(`${id}: ${ScheduleExpression} is not a rate, and has no price`);
  return { ...workOf(id, textOf(Targets[0]?.Input)), timesAMonth: minutesOfMonth / period };
};

const workOf = (id: string, input: string): Pick<TimedWork, 'what' | 'work'> => {
  const [, sweep] = /"sweep":"([a-z-]+)"/.exec(input) ?? [];
  if (sweep !== undefined) return { what: 'sweeps', work: sweepOf(sweeper(sweep), sweep) };
  const [, check] = /"check":"([a-z-]+)"/.exec(input) ?? [];
  if (check === 'turn') return { what: 'synthetic turns', work: checkedTurn };
  if (check === 'sandbox') return { what: 'synthetic sandboxes', work: checkedSandbox };
  throw new Error(`${id}: the work of its input has no cost: add it to operations/cost/work.ts`);
};

const sweeper = (sweep: string): FunctionName =>
  sweep === 'schedules' || sweep === 'webhooks' ? sweep : 'janitor';

/** An input with a reference is a join of texts and references. */
const textOf = (input: unknown): string => {
  if (typeof input === 'string') return input;
  const parts = (input as { readonly 'Fn::Join'?: readonly [string, readonly unknown[]] } | undefined)?.[
    'Fn::Join'
  ];
  return (parts?.[1] ?? []).map((piece) => (typeof piece === 'string' ? piece : '?')).join('');
};
