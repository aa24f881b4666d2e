/** What a sandbox takes by the hour: the Fargate task of its flavor, on arm64. */
import { type Item, usdOf } from './bill.ts';

/** Pairs that Fargate sells; the flavors of `shared/domain/flavor.ts`, which infra may not read: a test compares them. */
export const taskSizes = {
  micro: { cpuUnits: 512, memoryMib: 1024 },
  small: { cpuUnits: 1024, memoryMib: 2048 },
  medium: { cpuUnits: 2048, memoryMib: 4096 },
  large: { cpuUnits: 4096, memoryMib: 8192 },
} as const;

export type FlavorName = keyof typeof taskSizes;

export const sandboxItems = (what: string, flavor: FlavorName, hours: number): readonly Item[] => {
  const { cpuUnits, memoryMib } = taskSizes[flavor];
  return [
    { what, price: 'fargateVcpuArm', amount: (hours * cpuUnits) / 1024 },
    { what, price: 'fargateGbArm', amount: (hours * memoryMib) / 1024 },
  ];
};

export const sandboxHour = (flavor: FlavorName): number => usdOf(sandboxItems('', flavor, 1));
