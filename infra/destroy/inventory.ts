/**
 * What a deployment holds, read before anything of it goes: afterwards no stack knows the names any more of what it
 * leaves behind.
 */
import type { Aws } from '../deploy/aws.ts';
import { findStack, type Held, resourcesOf, stackNames } from '../deploy/stacks.ts';
import type { Target } from '../deploy/target.ts';
import { cloudFrontRegion } from '../settings.ts';

export type Found = { readonly name: string; readonly aws: Aws; readonly held: readonly Held[] };

export type Inventory = {
  /** In the order in which they can be deleted. */
  readonly stacks: readonly Found[];
  /** Physical ids of a type, in all of them. */
  readonly ofType: (...types: readonly string[]) => readonly Held[];
};

export const takeInventory = async ({ aws, settings }: Target): Promise<Inventory> => {
  const stacks: Found[] = [];
  const places = [
    ...stackNames.toReversed().map((name) => ({ name, at: aws })),
    { name: 'firewall', at: aws.in(cloudFrontRegion) },
  ];
  for (const { name, at } of places) {
    const stack = await findStack(at, `${settings.deployment}-${name}`);
    if (stack !== undefined)
      stacks.push({ name: stack.name, aws: at, held: await resourcesOf(at, stack.name) });
  }
  return {
    stacks,
    ofType: (...types) => stacks.flatMap(({ held }) => held.filter(({ type }) => types.includes(type))),
  };
};
