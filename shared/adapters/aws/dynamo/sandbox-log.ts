/** `SandboxLog` on the one table: an item per portion of lines beside its workspace, removed by TTL. */
import { randomUUID } from 'node:crypto';
import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { sandboxLogRecord } from '#shared/contracts/stored/workspace-records.ts';
import { sandboxLogSecondsMax } from '#shared/domain/limits.ts';
import type { LogLine, SandboxLog } from '#shared/ports/sandbox.ts';
import { keys, type Table } from './table.ts';

/** An item holds 400 KB; a portion stays well below it. */
const portionBytesMax = 200 * 1024;

export const makeSandboxLog = ({ client, name }: Table): SandboxLog => ({
  append: async (workspace, lines) => {
    const part = randomUUID().slice(0, 8);
    for (const [index, portion] of portions(lines).entries()) {
      const at = portion[0]?.at ?? 0;
      const ttl = Math.ceil(at / 1000) + sandboxLogSecondsMax;
      // The suffix retains the order of portions of one moment.
      const key = keys.sandboxLog(workspace, at, `${part}-${String(index).padStart(6, '0')}`);
      const Item = { ...key, lines: portion, ttl };
      await client.send(new PutCommand({ TableName: name, Item }));
    }
  },
  read: async (workspace, linesMax) => {
    const lines: LogLine[] = [];
    let start: Record<string, unknown> | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: name,
          KeyConditionExpression: 'pk = :pk AND begins_with(sk, :log)',
          ExpressionAttributeValues: { ':pk': keys.workspace(workspace).pk, ':log': 'LOG#' },
          ScanIndexForward: false,
          ConsistentRead: true,
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        }),
      );
      lines.push(...Items.flatMap((item) => [...decodeStored(sandboxLogRecord, item).lines].reverse()));
      start = LastEvaluatedKey;
    } while (start !== undefined && lines.length < linesMax);
    return lines
      .slice(0, linesMax)
      .reverse()
      .sort((one, other) => one.at - other.at);
  },
});

const portions = (lines: readonly LogLine[]): readonly (readonly LogLine[])[] => {
  const all: LogLine[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    bytes += Buffer.byteLength(line.text) + 64;
    if (bytes > portionBytesMax) {
      all.push([]);
      bytes = Buffer.byteLength(line.text) + 64;
    }
    all.at(-1)?.push(line);
  }
  return all;
};
