/** A function's environments, without threads: how many there are, how many start at once, and which of the waiting is next. */
import { afterEach, expect, test, vi } from 'vitest';
import type { Environment } from './environment.ts';
import { failure, type Outcome, type ResponseSink } from './function.ts';
import { openFunctionPool } from './function-pool.ts';

type Opened = {
  readonly served: string[];
  readonly load: () => void;
  readonly end: (outcome?: Outcome) => Promise<void>;
  /** Its machine fails. */
  readonly die: () => void;
  readonly isStopped: () => boolean;
};

const definition = { name: 'f', entry: '', environment: {}, timeoutMs: 1, memoryMb: 1 };
const finished: Outcome = { kind: 'finished' };
const sink: ResponseSink = { began: () => undefined, chunk: () => undefined };
/** A resolved promise reaches its listeners in some microtasks. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

type Limits = { readonly concurrencyMax?: number; readonly idleMsMax?: number };

const openPool = (
  environmentsMax: number,
  startsMax: number,
  { concurrencyMax, idleMsMax = Number.POSITIVE_INFINITY }: Limits = {},
) => {
  const opened: Opened[] = [];
  const open = (): Environment => {
    const served: string[] = [];
    let answer: (outcome: Outcome) => void = () => undefined;
    let load: () => void = () => undefined;
    let isAlive = true;
    let isStopped = false;
    opened.push({
      served,
      load: () => load(),
      die: () => {
        isAlive = false;
      },
      isStopped: () => isStopped,
      end: (outcome = finished) => {
        answer(outcome);
        return settle();
      },
    });
    return {
      run: ({ payload }, { started }) => {
        served.push(payload);
        load = () => started?.();
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
      isReusable: () => isAlive,
      stop: () => {
        isStopped = true;
        return Promise.resolve();
      },
    };
  };
  const limits = concurrencyMax === undefined ? {} : { concurrencyMax };
  const pool = openFunctionPool(
    { ...definition, ...limits },
    { environmentsMax, startsMax, idleMsMax, open, log: () => undefined },
  );
  const ask = async (...payloads: string[]): Promise<void> => {
    for (const payload of payloads) void pool.run({ requestId: payload, payload }, sink);
    await settle();
  };
  return { opened, ask, run: pool.run };
};

const servedBy = (opened: readonly Opened[]): readonly (readonly string[])[] =>
  opened.map(({ served }) => served);

afterEach(() => void vi.useRealTimers());

test('an invocation over the most environments waits for the first that is free', async () => {
  const { opened, ask } = openPool(2, 9);
  await ask('a', 'b', 'c');
  expect(servedBy(opened)).toEqual([['a'], ['b']]);
  await opened[1]?.end();
  expect(servedBy(opened)).toEqual([['a'], ['b', 'c']]);
});

test('an environment is started when another has loaded, for the one that has waited longest', async () => {
  const { opened, ask } = openPool(9, 1);
  await ask('a', 'b', 'c');
  expect(servedBy(opened)).toEqual([['a']]);
  opened[0]?.load();
  await settle();
  expect(servedBy(opened)).toEqual([['a'], ['b']]);
  await opened[0]?.end();
  expect(servedBy(opened)).toEqual([['a', 'c'], ['b']]);
});

test('one that fails before it has loaded gives its turn on', async () => {
  const { opened, ask } = openPool(9, 1);
  await ask('a', 'b');
  await opened[0]?.end(failure('Runtime.ExitError', 'it cannot be loaded'));
  expect(servedBy(opened)).toEqual([['a'], ['b']]);
});

test('one that could not load its function is not asked again, and one whose function throws is', async () => {
  const { opened, ask } = openPool(9, 9);
  await ask('a');
  await opened[0]?.end(failure('ERR_MODULE_NOT_FOUND', 'a chunk is gone'));
  await ask('b');
  opened[1]?.load();
  await opened[1]?.end(failure('Error', 'thrown'));
  await ask('c');
  expect(servedBy(opened)).toEqual([['a'], ['b', 'c']]);
  expect(opened.map(({ isStopped }) => isStopped())).toEqual([true, false]);
});

test('A18: one that ended while it was free gets no invocation', async () => {
  const { opened, ask } = openPool(9, 9);
  await ask('a', 'b');
  await opened[0]?.end();
  await opened[1]?.end();
  opened[1]?.die();
  await ask('c', 'd');
  expect(servedBy(opened)).toEqual([['a', 'c'], ['b'], ['d']]);
});

test('A22: over the reserved concurrency an invocation is refused, also while others wait', async () => {
  const { opened, ask, run } = openPool(1, 1, { concurrencyMax: 2 });
  await ask('a', 'b');
  await expect(run({ requestId: 'c', payload: 'c' }, sink)).rejects.toThrow('Rate Exceeded');
  await opened[0]?.end();
  await ask('d');
  await opened[0]?.end();
  expect(servedBy(opened)).toEqual([['a', 'b', 'd']]);
});

test('A17: one that nothing asked for in a while is ended, and the one that is used last stays', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { opened, ask } = openPool(9, 9, { idleMsMax: 1000 });
  await ask('a', 'b');
  await opened[0]?.end();
  await opened[1]?.end();
  vi.advanceTimersByTime(900);
  await ask('c');
  vi.advanceTimersByTime(900);
  expect(opened.map(({ isStopped }) => isStopped())).toEqual([true, false]);
  await opened[1]?.end();
  await ask('d');
  expect(servedBy(opened)).toEqual([['a'], ['b', 'c', 'd']]);
});

test.each(['opens', 'runs'] as const)(
  'an environment that fails when it %s is a failed invocation, and keeps no place',
  async (when) => {
    let failures = 2;
    const fail = (): void => {
      failures -= 1;
      if (failures >= 0) throw new Error('no thread');
    };
    const lines: string[] = [];
    const open = (): Environment => {
      if (when === 'opens') fail();
      return {
        run: async () => {
          if (when === 'runs') fail();
          return finished;
        },
        isReusable: () => true,
        stop: () => Promise.resolve(),
      };
    };
    const pool = openFunctionPool(definition, {
      ...{ environmentsMax: 1, startsMax: 1, idleMsMax: Number.POSITIVE_INFINITY },
      ...{ open, log: (line: string) => void lines.push(line) },
    });
    const runs = ['a', 'b', 'c'].map((payload) => pool.run({ requestId: payload, payload }, sink));
    expect(await Promise.all(runs)).toEqual([
      failure('Runtime.ExitError', 'no thread'),
      failure('Runtime.ExitError', 'no thread'),
      finished,
    ]);
    expect(lines).toHaveLength(2);
  },
);
