/**
 * The inventory of a deployment: its stacks, each in its region, and their resources. It is read before anything is deleted, since
 * afterwards no stack names its resources.
 */

import { cloudFrontRegion } from '../../infra/settings.ts';
import { type Aws, findStack, type Held, resourcesOf, stackNames } from './aws.ts';
import type { Target } from './command.ts';

type Place = { readonly name: string; readonly aws: Aws };

/** The stacks that a deployment has by its settings, in an order of their creation. */
export const placesOf = ({ aws, settings }: Pick<Target, 'aws' | 'settings'>): readonly Place[] => {
  const place = (stack: string, at: Aws): Place => ({ name: `${settings.deployment}-${stack}`, aws: at });
  return [
    ...(settings.firewall ? [place('firewall', aws.in(cloudFrontRegion))] : []),
    ...stackNames.map((name) => place(name, aws)),
  ];
};

export type Found = {
  readonly name: string;
  readonly aws: Aws;
  /** Epoch milliseconds; absent: not known. */
  readonly createdAt?: number;
  readonly held: readonly Held[];
};

export type Inventory = {
  /** In the order of their deletion. */
  readonly stacks: readonly Found[];
  /** Resources of these types in all stacks. */
  readonly ofType: (...types: readonly string[]) => readonly Held[];
};

export const takeInventory = async ({ aws, settings }: Target): Promise<Inventory> => {
  const stacks: Found[] = [];
  // A firewall that was turned off is still there.
  const places = placesOf({ aws, settings: { ...settings, firewall: true } }).toReversed();
  for (const { name, aws: at } of places) {
    const stack = await findStack(at, name);
    if (stack === undefined) continue;
    const { name: found, createdAt } = stack;
    const held = await resourcesOf(at, found);
    stacks.push({ name: found, aws: at, ...(createdAt !== undefined && { createdAt }), held });
  }
  return {
    stacks,
    ofType: (...types) => stacks.flatMap(({ held }) => held.filter(({ type }) => types.includes(type))),
  };
};
