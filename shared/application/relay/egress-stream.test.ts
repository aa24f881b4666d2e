import { expect, test } from 'vitest';
import type { EgressTarget, RelayReset } from '../../contracts/relay/frame.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { AppError } from '../../errors.ts';
import type { Egress, InjectedExchange } from '../../ports/egress.ts';
import { type EgressContext, type EgressRecord, openEgressStream, type Policies } from './egress-stream.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const bytesOf = (words: string): Uint8Array => Buffer.from(words);

/** The bytes that may still pass. */
const meterOf = (left: number) => {
  let room = left;
  const requireRoom = (): void => {
    if (room <= 0) throw new AppError('resource_limit_exceeded', 'the session has used its bytes');
  };
  return {
    requireRoom,
    count: (bytes: number) => {
      room -= bytes;
      requireRoom();
    },
  };
};

type Options = {
  readonly bytesLeft?: number;
  readonly target?: Partial<EgressTarget>;
  readonly policies?: Policies;
  readonly connect?: Egress['connect'];
  readonly injection?: EgressContext['injection'];
};

/** A stream whose host says `answer` and keeps what it is sent. */
const open = ({
  target = {},
  policies = [{ allow: ['a.org'] }],
  connect,
  injection = () => undefined,
  bytesLeft = 1000,
}: Options = {}) => {
  let current = policies;
  const listeners = new Set<() => void>();
  const meter = meterOf(bytesLeft);
  const heard: string[] = [];
  const said: string[] = [];
  const records: EgressRecord[] = [];
  const state = { accepted: false, ended: false, destroyed: false, taken: 0 };
  let reset: RelayReset | undefined;
  const answered = Promise.withResolvers<void>();
  const egress: Egress = {
    connect:
      connect ??
      (async () => ({
        incoming: (async function* () {
          await answered.promise;
          yield bytesOf('answer');
        })(),
        write: async (bytes) => void heard.push(text(bytes)),
        end: () => answered.resolve(),
        destroy: () => {
          state.destroyed = true;
        },
      })),
  };
  const sink = openEgressStream(
    {
      ...{ egress, policies: () => current, injection, meter },
      onListsRead: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      onRecord: (record) => void records.push(record),
    },
    { type: 'egress', via: 'http', host: 'a.org', port: 80, ...target },
    {
      write: async (bytes) => said.push(text(bytes)) > 0,
      take: (bytes) => {
        state.taken += bytes;
      },
      accept: () => {
        state.accepted = true;
      },
      end: () => {
        state.ended = true;
      },
      reset: (reason) => {
        reset = reason;
      },
    },
  );
  /** Other lists, as the holder reads them. */
  const setLists = (next: Policies): void => {
    current = next;
  };
  const tell = (): void => {
    for (const listener of [...listeners]) listener();
  };
  return { sink, heard, said, records, state, reset: () => reset, setLists, tell, listeners };
};

test('bytes pass both ways, and the connection is recorded when both ends are over', async () => {
  const { sink, heard, said, records, state } = open();
  await settle();
  expect(state.accepted).toBe(true);
  sink.onData(bytesOf('ask'));
  sink.onEnd();
  await settle();
  await settle();
  expect([heard, said, state]).toEqual([
    ['ask'],
    ['answer'],
    { accepted: true, ended: true, destroyed: true, taken: 3 },
  ]);
  expect(records).toEqual([{ host: 'a.org', port: 80, allowed: true, bytesIn: 6, bytesOut: 3 }]);
});

test.each<[string, Options, string]>([
  [
    'that is not listed',
    { target: { host: 'b.org' } },
    'b.org:80 is not among the hosts that this sandbox may reach: a person can add it',
  ],
  ['in another spelling of a number', { target: { host: '127.1' } }, '127.1 is not a host name'],
  ['without a network', { policies: [{ allow: ['a.org'] }, undefined] }, 'has no network'],
  ['without any list', { policies: [] }, 'has no network'],
])('a host %s is refused and recorded, and nothing connects to it', async (_, options, message) => {
  let isReached = false;
  const connect = async () => {
    isReached = true;
    throw new Error('reached');
  };
  const { records, reset, state } = open({ ...options, connect });
  await settle();
  expect(reset()).toMatchObject({ status: 403, message: expect.stringContaining(message) });
  expect([records.map(({ allowed }) => allowed), state.accepted, isReached]).toEqual([[false], false, false]);
});

test('an address that may not be reached is a refusal, a host that does not answer is none', async () => {
  const private_ = open({ connect: () => Promise.reject(new AppError('forbidden', 'it is private')) });
  const silent = open({ connect: () => Promise.reject(new AppError('sandbox_unavailable', 'it is silent')) });
  const faulty = open({ connect: () => Promise.reject(new Error('ECONNRESET 10.0.0.7')) });
  await settle();
  expect([private_.reset(), private_.records[0]?.allowed]).toEqual([
    { status: 403, message: 'it is private' },
    false,
  ]);
  expect([silent.reset(), silent.records[0]?.allowed]).toEqual([
    { status: 502, message: 'it is silent' },
    true,
  ]);
  expect(faulty.reset()).toEqual({ status: 502, message: 'the connection to a.org was interrupted' });
});

test('a host sees nothing of a tunnel whose first bytes are refused (EG5)', async () => {
  const { sink, heard, reset, records } = open({ target: { via: 'tunnel', port: 443 } });
  await settle();
  sink.onData(bytesOf('GET / HTTP/1.1\r\n'));
  await settle();
  expect([heard, reset()?.status, records[0]?.allowed]).toEqual([[], 403, false]);
});

test.each(['with', 'without'])(
  'a plain request to port 443 %s a secret is refused, and nothing connects (EG5)',
  async (which) => {
    let isReached = false;
    const connect = async () => {
      isReached = true;
      throw new Error('reached');
    };
    const hostStandIn = { answer: async ({ connect: ask }: InjectedExchange) => void (await ask()) };
    const sandbox = { workspaceId: 'w' as WorkspaceId, generation: 1 };
    const headers = async () => ({ authorization: 'secret' });
    const injection = () => (which === 'with' ? { hostStandIn, sandbox, headers } : undefined);
    const { reset, records, state } = open({ target: { port: 443 }, connect, injection });
    await settle();
    expect(reset()).toEqual({
      status: 403,
      message: 'a connection to port 443 must carry TLS: use https://',
    });
    expect([records[0]?.allowed, state.accepted, isReached]).toEqual([false, false, false]);
  },
);

test('a program that goes away ends the connection, once', async () => {
  const { sink, records, state } = open();
  await settle();
  sink.onReset({ status: 502, message: 'closed' });
  sink.onReset({ status: 502, message: 'closed' });
  sink.onData(bytesOf('late'));
  await settle();
  expect([records.length, state.destroyed]).toEqual([1, true]);
});

test('a connection ends, and says why, when the session has used its bytes (EG7)', async () => {
  const before = open({ bytesLeft: 0 });
  await settle();
  expect([before.reset(), before.state.accepted]).toEqual([
    { status: 403, message: 'the session has used its bytes' },
    false,
  ]);
  const between = open({ bytesLeft: 3 });
  await settle();
  between.sink.onData(bytesOf('ask'));
  await settle();
  expect([between.reset()?.status, between.state.destroyed]).toEqual([403, true]);
  expect(between.records).toEqual([
    { host: 'a.org', port: 80, allowed: false, bytesIn: 0, bytesOut: 3, isOverLimit: true },
  ]);
});

test('a connection to a host that is not listed any more ends when the lists are read again (EG1)', async () => {
  const { records, reset, state, setLists, tell, listeners } = open();
  await settle();
  tell();
  expect([reset(), listeners.size]).toEqual([undefined, 1]);
  setLists([{ allow: ['b.org'] }]);
  tell();
  expect([reset()?.status, state.destroyed, listeners.size]).toEqual([403, true, 0]);
  expect(records.map(({ allowed }) => allowed)).toEqual([false]);
});

/** A connection whose requests get a header; its exchange is kept as the stand-in got it. */
const openInjected = async (options: Options = {}) => {
  let value: string | undefined = 'one';
  let exchange: InjectedExchange | undefined;
  const answered = Promise.withResolvers<void>();
  const hostStandIn = {
    answer: (given: InjectedExchange): Promise<void> => {
      exchange = given;
      return answered.promise;
    },
  };
  const sandbox = { workspaceId: 'w' as WorkspaceId, generation: 1 };
  const stream = open({
    ...options,
    injection: () => {
      if (value === undefined) return undefined;
      const headers = { authorization: value };
      return { hostStandIn, sandbox, headers: async () => headers };
    },
  });
  await settle();
  const { headers, connect } = exchange as InjectedExchange;
  const setValue = (next: string | undefined): void => {
    value = next;
  };
  return { ...stream, headers, connect, setValue, answered: answered.resolve };
};

test('each request of an open connection gets the headers of the rule of now, and none once it is gone (IJ1)', async () => {
  const { headers, setValue, reset, tell } = await openInjected();
  expect(await headers()).toEqual({ authorization: 'one' });
  setValue('two');
  expect(await headers()).toEqual({ authorization: 'two' });
  setValue(undefined);
  await expect(headers()).rejects.toMatchObject({ code: 'forbidden' });
  tell();
  expect(reset()).toEqual({ status: 403, message: 'the rule for a.org was removed' });
});

test('a program hears the end of a connection whose requests are answered no more', async () => {
  const { answered, state, records } = await openInjected();
  answered();
  await settle();
  expect([state.ended, records.length]).toEqual([true, 1]);
});

test('a connection of one request that has ended is not kept until the last one ends', async () => {
  const ended: number[] = [];
  let opened = 0;
  const { connect, sink } = await openInjected({
    connect: async () => {
      const number = opened++;
      return {
        incoming: (async function* () {})(),
        write: async () => undefined,
        end: () => undefined,
        destroy: () => void ended.push(number),
      };
    },
  });
  for (const connection of [await connect(), await connect(), await connect()]) connection.destroy();
  await connect();
  expect(ended).toEqual([0, 1, 2]);
  sink.onReset({ status: 502, message: 'the program closed the connection' });
  expect(ended).toEqual([0, 1, 2, 3]);
});

test.each(['the first', 'a later'])(
  '%s request of an open connection has no connection to a host that is not listed any more (EG1, IJ1)',
  async (which) => {
    const { headers, connect, setLists } = await openInjected();
    if (which === 'a later') await connect();
    setLists([{ allow: ['a.org'] }, undefined]);
    await expect(connect()).rejects.toMatchObject({ code: 'forbidden' });
    await expect(headers()).rejects.toMatchObject({ code: 'forbidden' });
  },
);
