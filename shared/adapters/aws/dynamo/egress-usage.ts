/**
 * `EgressUsage` in the table: one counter for each session that reached a host, and those of the slices that pay. The counter
 * of a session is deleted with it. It also expires a month after the last byte, so that one that is written after the deletion
 * does not stay.
 *
 * Bytes that slices pay for are added to all counters in one transaction. If the tree was deleted, they are added only to the
 * session, and the slices have nothing left.
 */
import { GetCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { SessionId } from '#shared/domain/ids.ts';
import type { Payers } from '#shared/domain/sandbox-meter.ts';
import { egressBytesLeft, leastOf } from '#shared/domain/tree-slice.ts';
import type { EgressUsage } from '#shared/ports/egress.ts';
import { keys, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { readTree } from './tree-item.ts';
import { spendOfSlices } from './tree-slices.ts';

const keptSeconds = 30 * 86_400;

export const makeEgressUsage = (table: Table, now: () => number): EgressUsage => {
  const { client, name: TableName } = table;
  const bytesOf = async (session: SessionId): Promise<number> => {
    const { Item } = await client.send(
      new GetCommand({ TableName, Key: keys.egressUsage(session), ConsistentRead: true }),
    );
    return Number(Item?.['bytes'] ?? 0);
  };
  const leftOf = async (payers: Payers | undefined): Promise<number> =>
    payers === undefined
      ? Number.POSITIVE_INFINITY
      : leastOf(await readTree(table)(payers.root), payers.slices, egressBytesLeft);
  const read: EgressUsage['read'] = async (session, payers) => {
    const [bytes, left] = await Promise.all([bytesOf(session), leftOf(payers)]);
    return { bytes, left };
  };
  const added = (session: SessionId, bytes: number) => ({
    TableName,
    Key: keys.egressUsage(session),
    UpdateExpression: 'ADD #bytes :bytes SET #ttl = :ttl',
    ExpressionAttributeNames: { '#bytes': 'bytes', '#ttl': 'ttl' },
    ExpressionAttributeValues: { ':bytes': bytes, ':ttl': Math.floor(now() / 1000) + keptSeconds },
  });
  const addAlone = async (session: SessionId, bytes: number): Promise<number> => {
    const { Attributes } = await client.send(
      new UpdateCommand({ ...added(session, bytes), ReturnValues: 'ALL_NEW' }),
    );
    return Number(Attributes?.['bytes'] ?? bytes);
  };
  return {
    read,
    add: async (session, { bytes, payers }) => {
      if (payers === undefined)
        return { bytes: await addAlone(session, bytes), left: Number.POSITIVE_INFINITY };
      const TransactItems = [
        { Update: added(session, bytes) },
        spendOfSlices(TableName, payers, { egressBytes: bytes }),
      ];
      const result = await transact(table, new TransactWriteCommand({ TransactItems }));
      return result === 'done' ? read(session, payers) : { bytes: await addAlone(session, bytes), left: 0 };
    },
  };
};
