/** `CallOutputs` on the one table: one item per call that prints for long, in front of what a turn reads, removed by TTL. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { CallOutputs } from '#shared/ports/calls.ts';
import { batchGet } from './batch.ts';
import { keys, type Table } from './table.ts';

const keptSeconds = 86_400;

export const makeCallOutputs = (table: Table): CallOutputs => ({
  keepOutput: async (session, { key, printed, at }) => {
    const { client, name: TableName } = table;
    const ttl = Math.ceil(at / 1000) + keptSeconds;
    await client.send(new PutCommand({ TableName, Item: { ...keys.output(session, key), printed, ttl } }));
  },
  outputsOf: async (session, callKeys) => {
    if (callKeys.length === 0) return {};
    const items = await batchGet(
      table,
      callKeys.map((key) => keys.output(session, key)),
    );
    return Object.fromEntries(
      callKeys.flatMap((key) => {
        const { sk } = keys.output(session, key);
        const found = items.find((item) => item['sk'] === sk);
        return found === undefined ? [] : [[key, String(found['printed'] ?? '')]];
      }),
    );
  },
});
