/**
 * What a deployment costs a month while nobody works, line by line, from its synthesised templates.
 *
 * Refused is a template with a type of resource that has neither a price nor a reason to be free, named one by one:
 * so nobody adds a NAT gateway by accident.
 */

import type { FunctionName } from '#shared/config/environment.ts';
import type { Resource, Template } from '../stacks/synthesise.ts';
import { type Bill, billOf, type FunctionMemory, type Item, itemsOf, sandboxItems } from './bill.ts';
import { hoursOfMonth, minutesOfMonth } from './prices.ts';
import { freeResources, pricedResources } from './resource-prices.ts';
import { checkedSandbox, checkedTurn, ofChecks, ofSweeps, sweepOf, type Work } from './work.ts';

export type Templates = Readonly<Record<string, Template>>;
type Resources = readonly (readonly [string, Resource])[];

export const idleBill = (templates: Templates): Bill => {
  const resources = resourcesOf(templates);
  refuseUnknown(resources);
  const memory = memoryIn(resources);
  const timed = resources.flatMap(([id, resource]) => timedWorkOf(id, resource) ?? []);
  const isChecked = timed.some(({ what }) => what.startsWith('synthetic'));
  const metrics = ofSweeps.length + (isChecked ? ofChecks.length : 0);
  const poolHours = poolSizeOf(resources) * hoursOfMonth;
  return billOf([
    ...resources.flatMap(([id, { Type, Properties = {} }]) => pricedResources[Type]?.(Properties, id) ?? []),
    ...timed.flatMap(({ what, work, timesAMonth }) => itemsOf(what, work, { times: timesAMonth, memory })),
    { what: 'metrics of our own', price: 'customMetric', amount: metrics } satisfies Item,
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
      `no price is known for ${[...unknown].join(', ')}: add it to infra/cost/resource-prices.ts, or to infra/cost/resource-prices.ts with the reason`,
    );
};

/** Functions are told apart by their logical ids, which name them. */
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

/**
 * What happens by the clock while nobody works: the rules of the template that have a rate, each with the work that
 * its input asks for. A rule whose work is not known fails the bill.
 */
export type TimedWork = { readonly what: string; readonly work: Work; readonly timesAMonth: number };

const minutes: Readonly<Record<string, number>> = {
  minute: 1,
  minutes: 1,
  hour: 60,
  hours: 60,
  day: 1440,
  days: 1440,
};

/** Undefined for what is no rule, or one of a pattern. */
export const timedWorkOf = (id: string, { Type, Properties }: Resource): TimedWork | undefined => {
  if (Type !== 'AWS::Events::Rule') return undefined;
  const { ScheduleExpression, State, Targets = [] } = Properties;
  if (ScheduleExpression === undefined || State === 'DISABLED') return undefined;
  const [, count, unit = ''] = /^rate\((\d+) (\w+)\)$/.exec(ScheduleExpression) ?? [];
  const period = Number(count) * (minutes[unit] ?? Number.NaN);
  if (!(period > 0)) throw new Error(`${id}: ${ScheduleExpression} is no rate that has a price`);
  return { ...workOf(id, textOf(Targets[0]?.Input)), timesAMonth: minutesOfMonth / period };
};

const workOf = (id: string, input: string): Pick<TimedWork, 'what' | 'work'> => {
  const [, sweep] = /"sweep":"([a-z-]+)"/.exec(input) ?? [];
  if (sweep !== undefined) return { what: 'sweeps', work: sweepOf(sweeper(sweep)) };
  const [, check] = /"check":"([a-z-]+)"/.exec(input) ?? [];
  if (check === 'turn') return { what: 'synthetic turns', work: checkedTurn };
  if (check === 'sandbox') return { what: 'synthetic sandboxes', work: checkedSandbox };
  throw new Error(`${id}: nobody has said what the work of its input costs`);
};

const sweeper = (sweep: string): FunctionName =>
  sweep === 'schedules' || sweep === 'webhooks' ? sweep : 'janitor';

/** An input that names a resource is a join of texts and references. */
const textOf = (input: unknown): string => {
  if (typeof input === 'string') return input;
  const parts = (input as { readonly 'Fn::Join'?: readonly [string, readonly unknown[]] } | undefined)?.[
    'Fn::Join'
  ];
  return (parts?.[1] ?? []).map((piece) => (typeof piece === 'string' ? piece : '?')).join('');
};
