/** Faults as the variable and the endpoint take them, and what each number decides. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  decodeFaults,
  eventDelaysMs,
  type Faults,
  isStopFailing,
  isThrottled,
  isWithoutCapacity,
  openEventDelivery,
  openFaultPlan,
  readFaults,
  startFailure,
} from './faults.ts';

describe('the variable', () => {
  test('has no fault when unset or empty', () => {
    expect(readFaults(undefined)).toEqual({});
    expect(readFaults('')).toEqual({});
  });

  test('contains every fault as JSON', () => {
    const faults = {
      provisioningMs: 3000,
      throttles: 2,
      capacityFailures: 1,
      capacityFailuresFor: ['2048'],
      diesWhileStarting: 1,
      unreachableMs: 500,
      stopFailures: 3,
      events: { lose: [1, 4], double: true, shuffle: true, delayMs: 20 },
    };
    expect(readFaults(JSON.stringify(faults))).toEqual(faults);
  });

  test.each([
    ['{"throttle": 1}', 'SALLYPORT_ECS_FAULTS: Unrecognized key: "throttle"'],
    ['{"events": {"loose": 1}}', 'SALLYPORT_ECS_FAULTS: events: Unrecognized key: "loose"'],
    ['{"throttles": -1}', 'SALLYPORT_ECS_FAULTS: throttles: Too small: expected number to be >=0'],
    ['{throttles', 'SALLYPORT_ECS_FAULTS: Invalid input: expected object, received undefined'],
    ['[]', 'SALLYPORT_ECS_FAULTS: Invalid input: expected object, received array'],
  ])('%s is refused with one line', (text, line) => {
    expect(() => readFaults(text)).toThrow(new Error(line));
  });

  test('reports several problems in one line', () => {
    const decoded = decodeFaults('{"throttles": 0.5, "stopFailures": "2", "x": 1}');
    expect(decoded).toEqual({
      ok: false,
      problem: expect.stringMatching(/^throttles: .*; stopFailures: .*; Unrec.*$/),
    });
  });
});

test('each occasion is counted separately, and new faults start again', () => {
  const plan = openFaultPlan({ throttles: 1 });
  expect([plan.count('run'), plan.count('run'), plan.count('stop')]).toEqual([1, 2, 1]);
  plan.replace({ stopFailures: 2 });
  expect(plan.current()).toEqual({ stopFailures: 2 });
  expect([plan.count('run'), plan.count('stop')]).toEqual([1, 1]);
});

test('the first n are hit and the others are not', () => {
  const firstFour = (isHit: (number: number) => boolean) => [1, 2, 3, 4].map(isHit);
  expect(firstFour((number) => isThrottled({ throttles: 2 }, number))).toEqual([true, true, false, false]);
  expect(firstFour((number) => isStopFailing({ stopFailures: 1 }, number))).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(firstFour((number) => isWithoutCapacity({ capacityFailures: 3 }, number, '512'))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(firstFour((number) => isThrottled({}, number))).toEqual([false, false, false, false]);
});

test('a size without capacity never gets any', () => {
  const faults = { capacityFailuresFor: ['2048', '4096'] };
  expect(['1024', '2048', '4096'].map((cpu) => isWithoutCapacity(faults, 9, cpu))).toEqual([
    false,
    true,
    true,
  ]);
});

test('a task that dies while starting has the reasons in turn', () => {
  const reasons = [1, 2, 3, 4].map((number) => startFailure({ diesWhileStarting: 3 }, number)?.split(':')[0]);
  expect(reasons).toEqual([
    'CannotPullContainerError',
    'ResourceInitializationError',
    'CannotPullContainerError',
    undefined,
  ]);
});

test.each([
  [{}, [[0], [0], [0]]],
  [{ lose: 2 }, [[], [], [0]]],
  [{ lose: [2] }, [[0], [], [0]]],
  [
    { double: true },
    [
      [0, 50],
      [0, 50],
      [0, 50],
    ],
  ],
  [{ delayMs: 10 }, [[10], [10], [10]]],
  [{ shuffle: true }, [[300], [0], [300]]],
  [{ lose: [1], double: true, shuffle: true, delayMs: 10 }, [[], [10, 60], [310, 360]]],
])('events with %j arrive late', (events, delays) => {
  expect([1, 2, 3].map((number) => eventDelaysMs({ events }, number))).toEqual(delays);
});

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const delivered = (faults: Faults) => {
  const seen: unknown[] = [];
  const delivery = openEventDelivery(openFaultPlan(faults), ({ version }) => seen.push(version));
  return { seen, delivery };
};

test('without faults an event arrives at once', () => {
  const { seen, delivery } = delivered({});
  for (const version of [1, 2, 3]) delivery.deliver({ version });
  expect(seen).toEqual([1, 2, 3]);
});

test('shuffled events are overtaken, doubled ones repeated, lost ones never sent', async () => {
  const { seen, delivery } = delivered({ events: { shuffle: true, double: true, lose: [4] } });
  for (const version of [1, 2, 3, 4]) delivery.deliver({ version });
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen).toEqual([2, 2, 1, 3, 1, 3]);
});

test('late events are dropped at the stop', async () => {
  const { seen, delivery } = delivered({ events: { delayMs: 100 } });
  delivery.deliver({ version: 1 });
  await vi.advanceTimersByTimeAsync(100);
  delivery.deliver({ version: 2 });
  delivery.stop();
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen).toEqual([1]);
});
