import { expect, test } from 'vitest';
import type { SessionId, WorkspaceId } from '../../domain/ids.ts';
import type { RelayStarter } from '../../ports/invoker.ts';
import type { LinkRequest, SandboxLink } from '../../ports/sandbox.ts';
import type { World } from '../../ports/world.ts';
import { onRelayWanted } from './start-relay.ts';

const sandbox = {
  workspaceId: 'w' as WorkspaceId,
  generation: 1,
  address: 'http://10.0.0.1:8080',
  flavor: 'micro',
} as const;

const play = async (starter: RelayStarter | undefined, signs = 1) => {
  const asked: string[] = [];
  const link = {
    fetch: async (_: unknown, { method, path }: LinkRequest) => {
      asked.push(`${method} ${path}`);
      return new Response(null, { status: 204 });
    },
  } as SandboxLink;
  const world = { now: () => 1000 } as World;
  const wanted = onRelayWanted(starter, sandbox, {
    link,
    world,
    sessionId: 's' as SessionId,
  });
  for (let sign = 0; sign < signs; sign += 1) wanted();
  await new Promise((resolve) => setImmediate(resolve));
  return asked;
};

test('a wish has the relay held, once for signs that follow each other', async () => {
  const held: number[] = [];
  const starter = {
    holdRelay: async ({ generation }: { readonly generation: number }) => void held.push(generation),
  };
  expect(await play(starter, 3)).toEqual([]);
  expect(held).toEqual([1]);
});

test('a sandbox whose holder cannot be started is told, so that its programs do not wait (RL4)', async () => {
  const starter = { holdRelay: () => Promise.reject(new Error('throttled')) };
  expect(await play(starter)).toEqual(['POST /relay/dismiss']);
  expect(await play(undefined)).toEqual(['POST /relay/dismiss']);
});
