/** The bytes of egress of sessions and of the slices that pay for them, against a real DynamoDB engine (EG7, TM11). */
import { DeleteCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { makeEgressUsage } from '#shared/adapters/aws/dynamo/egress-usage.ts';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import { transact } from '#shared/adapters/aws/dynamo/transaction.ts';
import { growTree, makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { atOnce } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();
const newId = (): SessionId => crypto.randomUUID() as SessionId;
const any = Number.POSITIVE_INFINITY;

/** A tree with a slice of 1000 bytes, and one inside it of 300. */
const open = async () => {
  const { table } = fixture;
  const [root, outer, inner] = [newId(), newId(), newId()];
  const grown = growTree(table.name, { root, spentUsd: 0, agentsMax: 50 });
  await transact(table, new TransactWriteCommand({ TransactItems: [grown] }));
  const trees = makeTreeStore(table);
  await trees.addSlice(root, { session: outer, egressBytesMax: 1000 });
  await trees.addSlice(root, { session: inner, egressBytesMax: 300 });
  const usage = makeEgressUsage(table, () => 0);
  const slicesNow = async () => (await trees.read(root))?.slices ?? {};
  return { root, outer, inner, usage, slicesNow };
};

describe('bytes of egress', () => {
  test('of a session without a slice are counted beside it alone', async () => {
    const { usage, slicesNow } = await open();
    const [session, before] = [newId(), await slicesNow()];
    expect(await usage.read(session, undefined)).toEqual({ bytes: 0, left: any });
    await usage.add(session, { bytes: 5, payers: undefined });
    expect(await usage.add(session, { bytes: 6, payers: undefined })).toEqual({ bytes: 11, left: any });
    expect(await slicesNow()).toEqual(before);
  });

  test('count in each slice that pays, and leave the least of them', async () => {
    const { usage, slicesNow, root, outer, inner } = await open();
    const both = { root, slices: [outer, inner] };
    expect(await usage.read(inner, both)).toEqual({ bytes: 0, left: 300 });
    await atOnce(10, () => usage.add(inner, { bytes: 20, payers: both }));
    expect(await usage.read(inner, both)).toEqual({ bytes: 200, left: 100 });
    expect(await usage.add(outer, { bytes: 750, payers: { root, slices: [outer] } })).toEqual({
      ...{ bytes: 750, left: 50 },
    });
    expect(await usage.read(inner, both)).toEqual({ bytes: 200, left: 50 });
    expect(await slicesNow()).toMatchObject({ [outer]: { egressBytes: 950 }, [inner]: { egressBytes: 200 } });
    expect(await usage.add(inner, { bytes: 900, payers: both })).toEqual({ bytes: 1100, left: 0 });
  });

  test('are not left of a slice that is not written, nor of a deleted tree; what passed is counted', async () => {
    const { usage, root, inner } = await open();
    const unwritten = { root, slices: [newId()] };
    expect(await usage.read(inner, unwritten)).toEqual({ bytes: 0, left: 0 });
    expect(await usage.add(inner, { bytes: 7, payers: unwritten })).toEqual({ bytes: 7, left: 0 });
    const { client, name: TableName } = fixture.table;
    await client.send(new DeleteCommand({ TableName, Key: keys.tree(root) }));
    const payers = { root, slices: [inner] };
    expect(await usage.add(inner, { bytes: 8, payers })).toEqual({ bytes: 15, left: 0 });
  });
});
