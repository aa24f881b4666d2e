/**
 * The inventory of a deployment: its stacks and their resources. It is read before anything is deleted, since afterwards no stack
 * names its resources.
 */

import { cloudFrontRegion } from '../../infra/settings.ts';
import { type Aws, findStack, type Held, resourcesOf, stackNames } from './aws.ts';
import type { Target } from './command.ts';

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
  const addresses = [
    ...stackNames.toReversed().map((name) => ({ name, at: aws })),
    { name: 'firewall', at: aws.in(cloudFrontRegion) },
  ];
  for (const { name, at } of addresses) {
    const stack = await findStack(at, `${settings.deployment}-${name}`);
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
