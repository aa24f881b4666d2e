/**
 * What a deployment costs a month while nobody works, line by line, from its synthesised templates.
 *
 * Refused is a template with a type of resource that has neither a price nor a reason to be free, named one by one:
 * so nobody adds a NAT gateway by accident.
 */
import type { Resource, Template } from '../stacks/synthesise.ts';
import { type Bill, billOf, type Item, itemsOf } from './bill.ts';
import { freeResources } from './free-resources.ts';
import type { FunctionMemory } from './function-amounts.ts';
import { ofChecks, ofSweeps } from './idle-metrics.ts';
import { hoursOfMonth } from './prices.ts';
import { pricedResources } from './resource-items.ts';
import { sandboxItems } from './sandbox-hour.ts';
import { timedWorkOf } from './timed-work.ts';

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
      `no price is known for ${[...unknown].join(', ')}: add it to infra/cost/resource-items.ts, or to infra/cost/free-resources.ts with the reason`,
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
