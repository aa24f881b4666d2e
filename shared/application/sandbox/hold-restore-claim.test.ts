/** The claim of a restore that runs is renewed; the claim of one whose function died is not, and those who wait get it in time. */
import { expect, test } from 'vitest';
import type { WorkspaceId } from '../../domain/ids.ts';
import { restoreHoldMs, restoreMsMax, restoreRenewMs, sandboxWaitMsMax } from '../../domain/limits.ts';
import type { SandboxDeps } from '../deps.ts';
import { whileHeld } from './make-sandbox-ready.ts';

const held = { workspaceId: 'w' as WorkspaceId, generation: 3, claim: 2 };

/** A restore in a world whose clock goes on at each pause; each renewal gets the next of these answers, then true. */
const restoring = async (pauses: number, answers: readonly (boolean | Error)[] = []) => {
  const renewed: unknown[] = [];
  const warned: string[] = [];
  const state = { now: 1000, pauses: 0 };
  const last = Promise.withResolvers<string>();
  const ports = {
    workspaces: {
      renewRestore: async (
        _id: string,
        generation: number,
        { claim, until }: { claim: number; until: number },
      ) => {
        renewed.push([generation, claim, until - state.now]);
        const answer = answers[renewed.length - 1] ?? true;
        if (answer instanceof Error) throw answer;
        if (!answer) last.resolve('restored');
        return answer;
      },
    },
    world: {
      now: () => state.now,
      sleep: async (ms: number, signal: AbortSignal) => {
        if (state.pauses === pauses) {
          last.resolve('restored');
          if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
          return;
        }
        state.pauses += 1;
        state.now += ms;
      },
    },
    telemetry: { warn: (message: string) => void warned.push(message) },
  };
  const result = await whileHeld(ports as unknown as SandboxDeps, held, () => last.promise);
  return { result, renewed, warned };
};

test('one that runs renews its claim until it is over', async () => {
  const renewal = [3, 2, restoreHoldMs];
  expect(await restoring(3)).toEqual({
    result: 'restored',
    renewed: [renewal, renewal, renewal],
    warned: [],
  });
});

test('one whose claim passed to another renews nothing more', async () => {
  expect((await restoring(9, [true, false])).renewed).toHaveLength(2);
});

test('a renewal that failed is told and tried again', async () => {
  const { renewed, warned } = await restoring(3, [new Error('throttled')]);
  expect([renewed.length, warned]).toEqual([3, ['a claim to restore was not renewed']]);
});

test('none excludes others for longer than a restore may last', async () => {
  const { renewed } = await restoring(restoreMsMax / restoreRenewMs - 1);
  expect(renewed.at(-1)).toEqual([3, 2, restoreRenewMs]);
});

test('those who wait for a function that died have its claim while they wait', () => {
  expect(restoreRenewMs).toBeLessThan(restoreHoldMs);
  expect(restoreHoldMs).toBeLessThan(sandboxWaitMsMax / 2);
});
