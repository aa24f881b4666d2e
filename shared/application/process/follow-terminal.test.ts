/** A follower of a terminal: what it sends, where it goes on, and when it ends or hands over. */
import { expect, test } from 'vitest';
import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import { followerMarginMs } from '../../domain/limits.ts';
import { deploymentOwner } from '../../domain/principal.ts';
import type { Execution, Follower } from '../../ports/terminals.ts';
import type { TerminalDeps } from '../deps.ts';
import { followTerminal } from './follow-terminal.ts';

const sandbox = { state: 'ready', generation: 1, address: 'http://sandbox', flavor: 'small' };
const principal = { owner: deploymentOwner, scope: 'admin' as const, tokenHash: 'admin' };
const session = { id: 's', workspace: 'w', owner: deploymentOwner, status: 'running', kind: 'execution' };
const id = '00000000-0000-4000-8000-000000000001';

const output = (offset: number, text: string): string =>
  `event: output\ndata: ${JSON.stringify({ stream: 'pty', offset, bytes: text.length, text })}\n\n`;
const exit = 'event: exit\ndata: {"exitCode":3}\n\n';

type World = {
  /** Sent by the sandbox, slice by slice; an error is a connection that breaks. */
  readonly slices: readonly (readonly (string | Error)[])[];
  readonly stored?: Partial<Follower>;
  readonly postings?: (frame: string) => 'sent' | 'gone' | 'slow';
  readonly isClosed?: boolean;
  readonly tokenHash?: string;
};

const open = ({ slices, stored = {}, postings = () => 'sent', isClosed = false, tokenHash }: World) => {
  const posted: { type: string; data: Record<string, unknown> }[] = [];
  const asked: (string | undefined)[] = [];
  const handedTo: string[] = [];
  let follower: Follower | undefined = { run: 'r', offset: 0, until: 0, ...stored };
  const left = [...slices];
  let now = 0;
  let executions = 0;
  let last = '';
  const known = {
    terminals: {
      resume: async (_: object, run: string, execution: string) => {
        if (follower?.run !== run) return undefined;
        last = execution;
        return follower.offset;
      },
      renew: async (_: object, next: Execution) => {
        if (follower?.run !== next.run || next.execution !== last) return false;
        follower = next;
        return true;
      },
      release: async (_: object, __: string, execution: string) => {
        if (execution === last) follower = undefined;
      },
    },
    followerStarter: { followTerminal: async (_: object, run: string) => void handedTo.push(run) },
    connections: {
      get: async () =>
        isClosed
          ? undefined
          : {
              id: 'c',
              sessionId: id as SessionId,
              principal: { ...principal, tokenHash: tokenHash ?? 'admin' },
            },
    },
    turns: { getWithTurn: async () => ({ session, turn: {} }) },
    tokens: { get: async () => undefined },
    adminTokenHash: 'admin',
    workspaces: { get: async () => ({ id: 'w', sandbox }) },
    processes: { get: async () => ({ id: 'p', endedAt: undefined }), end: async () => undefined },
    link: {
      fetch: async (_: object, { path }: { path: string }) => {
        asked.push(/offset=(\d+)/.exec(path)?.[1]);
        const slice = left.shift();
        if (slice === undefined)
          return Response.json({ error: { code: 'not_found', message: '' } }, { status: 404 });
        const parts = [...slice];
        return new Response(
          new ReadableStream({
            pull: (controller) => {
              const part = parts.shift();
              if (part === undefined) controller.close();
              else if (part instanceof Error) controller.error(part);
              else controller.enqueue(new TextEncoder().encode(part));
            },
          }),
        );
      },
    },
    sockets: {
      post: async (_: string, frame: string) => {
        const result = postings(frame);
        if (result === 'sent') posted.push(JSON.parse(frame));
        return result;
      },
    },
    correlation: { id: () => 'x' },
    telemetry: { warn: () => undefined },
    world: {
      now: () => now,
      uuid: () => `execution ${++executions}`,
      sleep: async (milliseconds: number) => {
        now += milliseconds;
      },
    },
  };
  const work = { connectionId: 'c' as ConnectionId, processId: 'p', run: 'r' };
  return {
    posted: () => posted.map(({ type, data }) => [type, data['offset'] ?? data['exitCode'], data['text']]),
    errors: () => posted.filter(({ type }) => type === 'error').map(({ data }) => data['error']),
    asked,
    handedTo,
    follower: () => follower,
    run: (leftMs = 900_000) =>
      followTerminal(known as unknown as TerminalDeps, { ...work, deadlineAt: now + leftMs }),
  };
};

test('output is sent in frames, slice after slice, to the end of the process', async () => {
  const world = open({
    slices: [[output(0, 'ab') + output(2, 'c'), ':next 3\n\n'], [output(3, 'd') + exit]],
  });
  await world.run();
  expect(world.posted()).toEqual([
    ['process:output', 0, 'abc'],
    ['process:output', 3, 'd'],
    ['process:exit', 3, undefined],
  ]);
  expect(world.asked).toEqual(['0', '3']);
  expect(world.follower()).toBeUndefined();
});

test('a slice that breaks off is asked again after the last byte that was sent', async () => {
  const world = open({ slices: [[output(5, 'ab'), new Error('broken')], [output(7, 'c') + exit]] });
  await world.run();
  expect(world.asked).toEqual(['0', '7']);
  expect(world.posted().map(([, offset]) => offset)).toEqual([5, 7, 3]);
});

test('a client that reads slowly for a long time gets each frame, and nothing twice', async () => {
  let refusals = 20;
  const postings = (frame: string) =>
    frame.includes('"text":"c"') && refusals-- > 0 ? ('slow' as const) : ('sent' as const);
  const again = Array(20).fill([output(2, 'c') + exit]);
  const world = open({ slices: [[output(0, 'ab'), output(2, 'c')], ...again], postings });
  await world.run();
  expect(world.asked).toEqual(['0', ...Array(20).fill('2')]);
  expect(world.posted().map(([, offset]) => offset)).toEqual([0, 2, 3]);
});

test('a sandbox that does not answer is given up after some tries', async () => {
  const broken = Array.from({ length: 50 }, () => [new Error('broken')]);
  const world = open({ slices: broken });
  await world.run();
  expect(world.asked.length).toBeLessThan(10);
  expect(world.follower()).toBeUndefined();
});

test('a follower begins where the one before it stopped', async () => {
  const world = open({ slices: [[output(40, 'x') + exit]], stored: { offset: 40 } });
  await world.run();
  expect(world.asked).toEqual(['40']);
});

test('it hands over before its function ends, with what it has sent', async () => {
  const world = open({ slices: [], stored: { offset: 12 } });
  await world.run(followerMarginMs - 1);
  expect(world.handedTo).toEqual(['r']);
  expect(world.asked).toEqual([]);
  expect(world.follower()).toMatchObject({ run: 'r', offset: 12 });
});

test('one that was replaced sends nothing', async () => {
  const world = open({ slices: [[output(0, 'x')]], stored: { run: 'another' } });
  await world.run();
  expect(world.asked).toEqual([]);
  expect(world.posted()).toEqual([]);
});

test('of two executions of one invocation the first ends at its next slice, and leaves the other its place', async () => {
  let second: Promise<void> | undefined;
  const postings = (): 'sent' => {
    second ??= world.run();
    return 'sent';
  };
  const slices = [[output(0, 'a'), ':next 1\n\n'], [output(0, 'a'), ':next 1\n\n'], [output(1, 'b') + exit]];
  const world = open({ slices, postings });
  await world.run();
  await second;
  expect(world.asked).toEqual(['0', '0', '1']);
  expect(world.follower()).toBeUndefined();
});

test('it ends with its connection: one that has closed, and one that is gone', async () => {
  const closed = open({ slices: [[output(0, 'x')]], isClosed: true });
  await closed.run();
  expect(closed.asked).toEqual([]);
  expect(closed.follower()).toBeUndefined();
  const gone = open({ slices: [[output(0, 'x')], [output(0, 'x')]], postings: () => 'gone' });
  await gone.run();
  expect(gone.asked).toEqual(['0']);
  expect(gone.follower()).toBeUndefined();
});

test('it ends, and says why, when the connection may no longer write', async () => {
  const world = open({ slices: [[output(0, 'x')]], tokenHash: 'revoked' });
  await world.run();
  expect(world.asked).toEqual([]);
  expect(world.errors()).toMatchObject([{ code: 'unauthenticated' }]);
});

test('a process that was lost with its sandbox ends with that', async () => {
  const world = open({ slices: [] });
  await world.run();
  expect(world.posted()).toEqual([['process:exit', null, undefined]]);
});
