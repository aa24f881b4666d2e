import { expect, test } from 'vitest';
import { createRelayPeer, type RelayPeer } from '../../contracts/relay/peer.ts';
import type { Network } from '../../domain/egress-policy.ts';
import type { SessionId, WorkspaceId } from '../../domain/ids.ts';
import { AppError } from '../../errors.ts';
import type { EgressConnection } from '../../ports/egress.ts';
import type { RelayWork } from '../../ports/invoker.ts';
import type { LinkRequest } from '../../ports/sandbox.ts';
import type { RelayDeps } from '../deps.ts';
import { holdRelay } from './hold-relay.ts';

const work = {
  workspaceId: 'w' as WorkspaceId,
  generation: 3,
  sessionId: 's' as SessionId,
};
const unbounded = async () => ({ bytes: 0, left: Number.POSITIVE_INFINITY });
const quarterMs = 900_000;

type Options = {
  /** The status of the answer to a claim. */
  readonly claim?: number;
  /** The number of answers that carry bytes before the sandbox needs no holder. */
  readonly slices?: number;
  readonly sliceMs?: number;
  readonly network?: Network | undefined;
  readonly projectNetwork?: Network | undefined;
  /** From this slice on the project lists another host alone. */
  readonly narrowedFrom?: number;
  /** From this slice on the sandbox has no network. */
  readonly noNetworkFrom?: number;
  /** Of every call of the platform. */
  readonly answer?: Promise<object>;
  /** The hosts connect, and are silent. */
  readonly isHostUp?: boolean;
  readonly generation?: number;
  readonly onSlice?: (slice: number, inside: RelayPeer) => void;
  /** Requests into the sandbox that are lost after they have arrived. */
  readonly lostAnswers?: number;
  /** Sessions of the workspace, and those that end with the first slice. */
  readonly users?: readonly string[];
  readonly ending?: readonly string[];
  readonly forgotten?: readonly string[];
  /** The answer to the release is lost. */
  readonly isReleaseLost?: boolean;
};

const listed = { allow: ['a.org'] };

const silentHost = (): EgressConnection => {
  const ended = Promise.withResolvers<void>();
  return {
    incoming: (async function* () {
      yield* [];
      await ended.promise;
    })(),
    write: async () => undefined,
    end: () => undefined,
    destroy: ended.resolve,
  };
};

/** A sandbox at the other end of the link, and a clock that moves with its answers. */
const play = async (options: Options = {}) => {
  const { claim = 204, slices = 1, sliceMs = 20_000, generation = 3, onSlice, lostAnswers = 0 } = options;
  const asked: string[] = [];
  const invoked: RelayWork[] = [];
  const connected: string[] = [];
  const logged: unknown[] = [];
  let [now, slice, received, lost] = [1_000_000, 0, 0, lostAnswers];
  let out: Uint8Array[] = [];
  const inside = createRelayPeer({ send: (frame) => void out.push(frame) });
  const link = {
    fetch: async (_: unknown, { method, path, body }: LinkRequest): Promise<Response> => {
      const url = new URL(path, 'http://sandbox');
      asked.push(`${method} ${url.pathname}`);
      if (url.pathname === '/relay/hold') return new Response(null, { status: claim });
      if (url.pathname === '/relay/release') {
        if (options.isReleaseLost) throw new AppError('sandbox_unavailable', 'lost');
        return new Response(null, { status: 204 });
      }
      if (url.pathname === '/relay/upstream') {
        slice += 1;
        now += sliceMs;
        if (slice > slices) return new Response(null, { status: 204 });
        onSlice?.(slice, inside);
        const bytes = Buffer.concat(out);
        out = [];
        return new Response(bytes);
      }
      const offset = Number(url.searchParams.get('offset'));
      const fresh = (body as Uint8Array).subarray(received - offset);
      received += fresh.length;
      inside.receive(fresh);
      if (lost > 0) {
        lost -= 1;
        throw new AppError('sandbox_unavailable', 'lost');
      }
      return Response.json({ received });
    },
  };
  const network = 'network' in options ? options.network : listed;
  const sandbox = { state: 'ready', generation, address: 'http://10.0.0.1:8080', flavor: 'micro', network };
  const ports = {
    workspaces: {
      get: async () => {
        const isNarrowed = slice >= (options.noNetworkFrom ?? Number.POSITIVE_INFINITY);
        const now = isNarrowed ? { ...sandbox, network: undefined } : sandbox;
        return { id: 'w', project: 'p', sandbox: now, users: options.users ?? ['s'] };
      },
    },
    projects: {
      get: async () => {
        if (slice >= (options.narrowedFrom ?? Number.POSITIVE_INFINITY))
          return { network: { allow: ['b.org'] } };
        return { network: 'projectNetwork' in options ? options.projectNetwork : listed };
      },
    },
    egressCeiling: { allow: ['*.org', 'a.org'] },
    relayIdleSeconds: 30,
    egressBytesMax: 1000,
    sessions: {
      get: async (id: SessionId) => {
        const hasEnded = slice > 0 && options.ending?.includes(id);
        if (slice > 0 && options.forgotten?.includes(id)) return undefined;
        return { id, status: hasEnded ? 'stopped' : 'running' };
      },
    },
    egressUsage: { read: unbounded, add: unbounded },
    link,
    relayStarter: { holdRelay: async (next: RelayWork) => void invoked.push(next) },
    egress: {
      connect: async ({ host }: { readonly host: string }) => {
        connected.push(host);
        if (options.isHostUp) return silentHost();
        throw new AppError('sandbox_unavailable', 'it is silent');
      },
    },
    platformCalls: { call: async () => options.answer },
    eventLog: {
      append: async (_: SessionId, entries: readonly unknown[]) => {
        logged.push(...entries);
        return [];
      },
    },
    connections: { subscribers: async () => [] },
    telemetry: { info: () => undefined, warn: () => undefined },
    world: { now: () => now, uuid: () => 'h', sleep: async () => undefined },
  } as unknown as RelayDeps;
  await holdRelay(ports, { ...work, deadlineAt: now + quarterMs });
  return { asked, invoked, connected, logged, received };
};

const open = (inside: RelayPeer, host: string): { readonly reset: () => string | undefined } => {
  let message: string | undefined;
  const onReset = (reason: { readonly message: string }): void => {
    message = reason.message;
  };
  inside.open(
    { type: 'egress', via: 'http', host, port: 80 },
    { onData: () => undefined, onEnd: () => undefined, onReset },
  );
  return { reset: () => message };
};

test('a relay is held until the sandbox needs it no more (RL5)', async () => {
  const { asked, invoked } = await play({ slices: 3 });
  expect(asked).toEqual(['POST /relay/hold', ...Array.from({ length: 4 }, () => 'GET /relay/upstream')]);
  expect(invoked).toEqual([]);
});

test('one that another invocation holds is left alone (RL1)', async () => {
  expect((await play({ claim: 409 })).asked).toEqual(['POST /relay/hold']);
});

test('a sandbox of another generation is not asked', async () => {
  expect((await play({ generation: 4 })).asked).toEqual([]);
});

test('a sandbox without a network is held when a program wants it, and reaches no host (RL7)', async () => {
  let refused: ReturnType<typeof open> | undefined;
  const { asked, connected } = await play({
    network: undefined,
    onSlice: (_, inside) => {
      refused ??= open(inside, 'a.org');
    },
  });
  expect(asked.slice(0, 2)).toEqual(['POST /relay/hold', 'GET /relay/upstream']);
  expect([connected, refused?.reset()]).toEqual([[], expect.stringContaining('has no network')]);
});

test('near its deadline the function hands over, once, to one that may take its place (RL6)', async () => {
  const { asked, invoked } = await play({ slices: 100 });
  expect(asked.at(-1)).toBe('POST /relay/release');
  expect(invoked).toEqual([{ ...work, replaces: 'h' }]);
  // Nothing was open: three minutes before the end.
  expect(asked.filter((one) => one === 'GET /relay/upstream')).toHaveLength(37);
});

test('a function whose release is not answered hands over all the same (RL6)', async () => {
  const { invoked } = await play({ slices: 100, isReleaseLost: true });
  expect(invoked).toEqual([{ ...work, replaces: 'h' }]);
});

test('once its session has ended the relay is held for another one of the workspace, or for none', async () => {
  const users = ['s', 'gone', 'other'];
  const { asked, invoked } = await play({ slices: 100, users, ending: ['s', 'gone'] });
  expect(asked.slice(-2)).toEqual(['GET /relay/upstream', 'POST /relay/release']);
  expect(invoked).toEqual([{ ...work, sessionId: 'other', replaces: 'h' }]);
  const alone = await play({ slices: 100, ending: ['s'] });
  expect([alone.invoked, alone.asked.filter((one) => one === 'GET /relay/upstream')]).toEqual([
    [],
    ['GET /relay/upstream'],
  ]);
});

test('a session that was deleted holds the relay no longer than one that has ended', async () => {
  const { invoked } = await play({ slices: 100, users: ['other'], forgotten: ['s'] });
  expect(invoked).toEqual([{ ...work, sessionId: 'other', replaces: 'h' }]);
});

test('a host is judged by sandbox, project and deployment, and its refusal is logged', async () => {
  const streams: { readonly reset: () => string | undefined }[] = [];
  const onSlice = (slice: number, inside: RelayPeer): void => {
    if (slice === 1) for (const host of ['a.org', 'b.org']) streams.push(open(inside, host));
  };
  const { connected, logged } = await play({ slices: 3, onSlice });
  expect(connected).toEqual(['a.org']);
  expect(streams.map(({ reset }) => reset())).toEqual([
    'it is silent',
    expect.stringContaining('b.org:80 is not among the hosts that this sandbox may reach'),
  ]);
  expect(logged).toMatchObject([
    { type: 'egress', data: { host: 'b.org', allowed: false, connections: 1 } },
    { type: 'egress', data: { host: 'a.org', allowed: true, connections: 1 } },
  ]);
});

test('what the project no longer lists is refused, whatever the sandbox was given (EG1)', async () => {
  const onSlice = (slice: number, inside: RelayPeer): void => {
    if (slice === 1) open(inside, 'a.org');
  };
  expect((await play({ slices: 2, projectNetwork: undefined, onSlice })).connected).toEqual([]);
});

test('a connection that is open ends once its host is not listed any more (EG1)', async () => {
  const streams: { readonly reset: () => string | undefined }[] = [];
  const seen: (string | undefined)[] = [];
  const onSlice = (slice: number, inside: RelayPeer): void => {
    if (slice === 1) streams.push(open(inside, 'a.org'));
    seen.push(streams[0]?.reset());
  };
  const { connected } = await play({ slices: 6, onSlice, isHostUp: true, narrowedFrom: 3 });
  expect(connected).toEqual(['a.org']);
  expect(seen.slice(0, 3)).toEqual([undefined, undefined, undefined]);
  expect(streams[0]?.reset()).toContain('a.org:80 is not among the hosts that this sandbox may reach');
});

test('without a network from now on, connections to hosts end, and calls of the platform are answered (EG1)', async () => {
  const answer = Promise.withResolvers<object>();
  const ends: (string | undefined)[] = [];
  let said = '';
  let host: ReturnType<typeof open> | undefined;
  const onSlice = (slice: number, inside: RelayPeer): void => {
    if (slice === 1) {
      host = open(inside, 'a.org');
      const call = inside.open(
        { type: 'platform' },
        {
          onData: (bytes) => {
            said += Buffer.from(bytes).toString();
          },
          onEnd: () => ends.push('answered'),
          onReset: ({ message }) => ends.push(message),
        },
      );
      void call.write(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"platform_tools"}')).then(call.end);
    }
    if (slice === 5) {
      expect([host?.reset(), ends]).toEqual(['this sandbox has no network: no host is allowed', []]);
      answer.resolve({ id: 1, result: { tools: [] } });
    }
  };
  const { asked } = await play({
    ...{ slices: 8, isHostUp: true, noNetworkFrom: 2 },
    ...{ onSlice, answer: answer.promise },
  });
  expect([said, ends]).toEqual([expect.stringContaining('"tools":[]'), ['answered']]);
  expect(asked.filter((one) => one === 'GET /relay/upstream')).toHaveLength(9);
});

test('bytes whose answer was lost are sent again, and count once (RL2)', async () => {
  const streams: { readonly reset: () => string | undefined }[] = [];
  const onSlice = (slice: number, inside: RelayPeer): void => {
    if (slice === 1) for (const host of ['b.org', 'c.org']) streams.push(open(inside, host));
  };
  await play({ slices: 6, onSlice, lostAnswers: 2 });
  expect(streams.map(({ reset }) => reset()?.slice(0, 5))).toEqual(['b.org', 'c.org']);
});
