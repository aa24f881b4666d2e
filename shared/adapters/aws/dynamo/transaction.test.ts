/** Requests that meet a transaction: sent again, whatever they are, unless a condition has failed. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import type { Table } from './table.ts';
import { makeTable } from './transaction.ts';

const error = (name: string, ...codes: readonly string[]): Error =>
  Object.assign(new Error(name), { name, CancellationReasons: codes.map((Code) => ({ Code })) });

const open = (failures: readonly Error[]) => {
  const left = [...failures];
  let sent = 0;
  const pauses: number[] = [];
  const send = async () => {
    sent += 1;
    const failure = left.shift();
    if (failure !== undefined) throw failure;
    return { Attributes: {} };
  };
  const jitter = async (millisecondsMax: number) => void pauses.push(millisecondsMax);
  const table = makeTable({ name: 't', jitter, client: { send } as unknown as Table['client'] });
  const update = new UpdateCommand({ TableName: 't', Key: { pk: 'a', sk: 'b' } });
  return { ask: () => table.client.send(update), sent: () => sent, pauses };
};

test('a single write that meets a transaction is sent again, each time after a longer pause', async () => {
  const conflict = error('TransactionConflictException');
  const { ask, sent, pauses } = open([conflict, conflict, conflict]);
  expect(await ask()).toEqual({ Attributes: {} });
  expect(sent()).toBe(4);
  expect(pauses).toEqual([10, 20, 40]);
});

test('a transaction that met another one, or was throttled, is sent again', async () => {
  const cancelled = 'TransactionCanceledException';
  const { ask, sent } = open([
    error(cancelled, 'None', 'TransactionConflict'),
    error(cancelled, 'ThrottlingError', 'None'),
  ]);
  await ask();
  expect(sent()).toBe(3);
});

test('a condition that failed is told at once, also beside a conflict', async () => {
  for (const failure of [
    error('ConditionalCheckFailedException'),
    error('TransactionCanceledException', 'ConditionalCheckFailed', 'TransactionConflict'),
    error('TransactionCanceledException', 'ValidationError'),
  ]) {
    const { ask, sent } = open([failure]);
    await expect(ask()).rejects.toBe(failure);
    expect(sent()).toBe(1);
  }
});

test('writers that meet again and again are told after twelve attempts', async () => {
  const { ask, sent } = open(Array.from({ length: 20 }, () => error('TransactionConflictException')));
  await expect(ask()).rejects.toThrow('TransactionConflictException');
  expect(sent()).toBe(12);
});
