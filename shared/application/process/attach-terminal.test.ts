/** One follower for a connection and a process, and few calls to the table. */
import { expect, test } from 'vitest';
import type { ConnectionId } from '../../domain/ids.ts';
import { followerLeaseMs, terminalsPerConnectionMax } from '../../domain/limits.ts';
import type { Follower } from '../../ports/terminals.ts';
import { openAttacher } from './attach-terminal.ts';

const key = { connection: 'c' as ConnectionId, process: 'p' };

const open = (start: () => Promise<void> = async () => undefined, followed = 1) => {
  let now = 1000;
  let held: Follower | undefined;
  const [claims, started, released]: [number[], string[], string[]] = [[], [], []];
  const parts = {
    terminals: {
      claim: async (_: object, follower: Follower) => {
        claims.push(follower.offset);
        const isClaimed = held === undefined || held.until < now;
        if (isClaimed) held = follower;
        return { isClaimed, until: held?.until ?? 0 };
      },
      count: async () => followed,
      release: async (_: object, run: string) => {
        released.push(run);
        held = undefined;
      },
    },
    followerStarter: {
      followTerminal: async (_: object, run: string) => {
        await start();
        started.push(run);
      },
    },
    world: { now: () => now, uuid: () => `run${claims.length}` },
  } as unknown as Parameters<typeof openAttacher>[0];
  const attachers = [openAttacher(parts), openAttacher(parts)] as const;
  return {
    ...{ claims, started, released },
    attach: (function_: 0 | 1 = 0, offset?: number) =>
      attachers[function_](key, { offset, isAnew: offset !== undefined }),
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
  };
};

test('two functions start one follower, and ask the table once each', async () => {
  const { attach, claims, started } = open();
  for (const function_ of [0, 0, 1, 1, 0] as const) await attach(function_);
  expect(started).toHaveLength(1);
  expect(claims).toHaveLength(2);
});

test('a follower that has fallen silent is replaced by the next frame', async () => {
  const { attach, pass, started } = open();
  await attach();
  pass(followerLeaseMs + 1);
  await attach();
  expect(started).toHaveLength(2);
});

test('output is wanted from the start, or from the offset that is named', async () => {
  const { attach, claims } = open();
  await attach();
  await attach(0, 70);
  expect(claims).toEqual([0, 70]);
});

test('a follower that could not be started leaves no lease', async () => {
  const { attach, released } = open(async () => {
    throw new Error('throttled');
  });
  await expect(attach()).rejects.toThrow('throttled');
  expect(released).toHaveLength(1);
});

test('a connection with too many terminals is refused another, and leaves no lease behind (TW8)', async () => {
  const full = open(undefined, terminalsPerConnectionMax + 1);
  await expect(full.attach()).rejects.toMatchObject({ code: 'resource_limit_exceeded' });
  expect([full.started, full.released]).toEqual([[], ['run0']]);
  const last = open(undefined, terminalsPerConnectionMax);
  await last.attach();
  expect(last.started).toHaveLength(1);
});
