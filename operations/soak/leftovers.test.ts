/** Leftovers of a soak in the table are found by what they are; what stands by design is not. */
import { expect, test } from 'vitest';
import { keyOfPart, keys } from '#shared/adapters/aws/dynamo/table.ts';
import { leftoversOf, overdueMs } from './leftovers.ts';

const moment = { now: 1_000_000, calmSince: 900_000 };
const kindsOf = (...items: readonly object[]): readonly string[] =>
  leftoversOf(items as never, moment).map(({ kind }) => kind);

test.each([
  ['a message that no turn took', keys.inbox('s', 1, 'm')],
  ['a part of a message that no turn took', keyOfPart(keys.inbox('s', 1, 'm'), 1)],
  ['a subscriber', keys.subscriber('s', 'c')],
  ['the output of a call that runs', keys.output('s', 'k')],
  ['a call that waits for a client', keys.callerCall('s', 'r')],
  ['a slot', keys.slot('h', 's')],
  ['a run of a schedule that has no end', keys.openRun('c', 'r')],
  ['a delivery that waits', keys.pendingDelivery('w', 1, 'd')],
  ['a connection', keys.connection('c')],
  ['a notice that was not sent', keys.notice('n')],
  ['a call that waits for a person', keys.waiting('1', 's')],
  ['a running call of a client', keys.runningCall('c', 'i')],
  ['a connection', keys.terminal('c', 'p')],
  ['a claim of a warm sandbox', keys.claim('w', 1)],
  ['a counter that is not zero', { ...keys.slots('h'), active: 1, conversations: 0 }],
  ['a counter that is not zero', { ...keys.slots('h'), active: 0, conversations: -1 }],
  ['a sandbox that has not stopped', { ...keys.workspace('w'), sandbox: { generation: 1 } }],
  ['a lease', { ...keys.session('s'), leaseUntil: moment.now + 1 }],
  ['an overdue item', { ...keys.session('s'), dueAt: moment.now - overdueMs }],
])('%s is found', (kind, item) => {
  expect(kindsOf(item)).toContain(kind);
});

test('what stands by design is not found', () => {
  expect(
    kindsOf(
      { ...keys.session('s'), leaseUntil: 0, dueAt: moment.now + 60_000 },
      { ...keys.workspace('w'), sandbox: { generation: 1, stoppedAt: 5 } },
      { ...keys.slots('h'), active: 0, conversations: 0 },
      { ...keys.sender('w'), leaseUntil: 0 },
      ...[
        keys.turn('s'),
        keys.event('s', 1),
        keys.delivery('w', 1, 'd'),
        keys.endedRun('c', 'r'),
        keys.features(),
      ],
    ),
  ).toEqual([]);
});

test('an expired item is gone, whether or not a sweep has come', () => {
  expect(kindsOf({ ...keys.runningCall('c', 'i'), ttl: 999 })).toEqual([]);
  expect(kindsOf({ ...keys.runningCall('c', 'i'), ttl: 1001 })).toEqual(['a running call of a client']);
});

test('a connection whose end was lost stands until its time is over, one of the calm does not', () => {
  const connection = { ...keys.connection('c'), connectedAt: moment.calmSince - 1, ttl: 2000 };
  const subscriber = { ...keys.subscriber('s', 'c'), ttl: 2000 };
  expect(kindsOf(connection, subscriber)).toEqual([]);
  expect(kindsOf({ ...connection, connectedAt: moment.calmSince }, subscriber)).toEqual([
    'a connection',
    'a subscriber',
  ]);
  expect(kindsOf(subscriber)).toEqual(['a subscriber']);
});
