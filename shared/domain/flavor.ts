/**
 * Sandbox sizes: what user code may use, and the smallest Fargate task that holds it.
 *
 * Fargate sells only certain pairs of CPU units and MiB; each pair here is the smallest valid one for
 * the limit (https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-tasks-services.html).
 */
/** The smallest first. */
export const flavorNames = ['micro', 'small', 'medium', 'large'] as const;
export type Flavor = (typeof flavorNames)[number];

/** The size of an agent session where neither its request nor its project says, of its pool entries and of the synthetic check. */
export const agentFlavor: Flavor = 'micro';

type FlavorSize = {
  readonly cpus: number;
  /** The memory limit of user code, in MB. */
  readonly memoryMb: number;
  readonly task: { readonly cpuUnits: number; readonly memoryMib: number };
};

export const flavors: Record<Flavor, FlavorSize> = {
  micro: { cpus: 0.5, memoryMb: 512, task: { cpuUnits: 512, memoryMib: 1024 } },
  small: { cpus: 1, memoryMb: 1024, task: { cpuUnits: 1024, memoryMib: 2048 } },
  medium: { cpus: 2, memoryMb: 2048, task: { cpuUnits: 2048, memoryMib: 4096 } },
  large: { cpus: 4, memoryMb: 4096, task: { cpuUnits: 4096, memoryMib: 8192 } },
};

/** The most that one session may have, whatever its flavor. */
export const sessionCpusMax = 8;
export const sessionMemoryMbMax = 8192;

export const smallerFlavor = (flavor: Flavor): Flavor | undefined =>
  flavorNames[flavorNames.indexOf(flavor) - 1];

export const decodeFlavor = (name: string): Flavor | undefined => {
  const flavor = name.toLowerCase();
  return Object.hasOwn(flavors, flavor) ? (flavor as Flavor) : undefined;
};
