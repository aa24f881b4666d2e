/** The faults of a soak. Each repeats after a pause that the seed decides, until all are told to end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { serversOf } from '../../tests/e2e/sandbox-processes.ts';
import { branch, type Random } from '../../tests/simulation/random.ts';
import type { Listener } from './listener.ts';
import type { Platform } from './platform.ts';
import type { Receiver } from './receiver.ts';

export type Endangered = {
  readonly platform: Platform;
  readonly home: string;
  readonly listeners: ReadonlySet<Listener>;
  readonly receiver: Receiver;
};

export type Faults = {
  readonly counts: Readonly<Record<string, number>>;
  /** Returns when no fault is on its way, and all are mended. */
  readonly end: () => Promise<void>;
};

type Fault = {
  readonly name: string;
  readonly seconds: readonly [least: number, most: number];
  /** The number of what it hit. */
  readonly strike: (endangered: Endangered, random: Random) => Promise<number>;
};

const every: readonly Fault[] = [
  {
    name: 'functions killed',
    seconds: [6, 14],
    strike: async ({ platform }) => {
      await platform.killFunctions();
      return 1;
    },
  },
  {
    name: 'sockets cut',
    seconds: [1, 4],
    strike: async ({ listeners }, random) => {
      const some = [...listeners].filter(() => random.next() < 0.4);
      for (const listener of some) listener.cut();
      return some.length;
    },
  },
  {
    name: 'sandboxes killed',
    seconds: [10, 25],
    strike: async ({ home }, random) => {
      const [first, ...others] = serversOf(home);
      if (first === undefined) return 0;
      process.kill(random.pick([first, ...others]).pid, 'SIGKILL');
      return 1;
    },
  },
  {
    name: 'receiver down or slow',
    seconds: [5, 15],
    strike: async ({ receiver }, random) => {
      receiver.mood = random.pick(['takes', 'refuses', 'is slow']);
      return receiver.mood === 'takes' ? 0 : 1;
    },
  },
];

/** The platform is killed at these parts of the time: late enough to have work, early enough to leave minutes to compare. */
const restartsAt = [0.15, 0.4];

export const startFaults = (endangered: Endangered, random: Random, soakMs: number): Faults => {
  const counts: Record<string, number> = {};
  const count = (name: string, hit: number): void => {
    counts[name] = (counts[name] ?? 0) + hit;
  };
  const ending = new AbortController();
  // One at a time: while the platform starts there are no functions to kill.
  let order: Promise<unknown> = Promise.resolve();
  const inOrder = (strike: () => Promise<void>): Promise<unknown> => {
    order = order.then(strike);
    return order;
  };
  const pause = (ms: number): Promise<boolean> =>
    sleep(ms, undefined, { signal: ending.signal }).then(
      () => true,
      () => false,
    );
  const repeat = async ({ name, seconds, strike }: Fault, own: Random): Promise<void> => {
    while (await pause(own.int(...seconds) * 1000))
      await inOrder(async () => count(name, await strike(endangered, own)));
  };
  const restart = async (part: number): Promise<void> => {
    if (!(await pause(part * soakMs))) return;
    await inOrder(async () => {
      await endangered.platform.restart();
      count('platform killed', 1);
    });
  };
  const all = [...every.map((fault) => repeat(fault, branch(random))), ...restartsAt.map(restart)];
  return {
    counts,
    end: async () => {
      ending.abort();
      await Promise.all(all);
      endangered.receiver.mood = 'takes';
    },
  };
};
