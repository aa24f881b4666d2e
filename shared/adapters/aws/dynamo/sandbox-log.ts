/** `SandboxLog` on the one table: an item per portion of lines beside its workspace, removed by TTL. */
import { randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { sandboxLogRecord } from '#shared/contracts/stored/workspace-records.ts';
import { sandboxLogSecondsMax } from '#shared/domain/limits.ts';
import type { LogLine, SandboxLog } from '#shared/ports/sandbox.ts';
import { queryPages } from './query-pages.ts';
import { keys, prefixes, type Table } from './table.ts';

/** An item holds 400 KB; a portion stays well below it. */
const portionBytesMax = 200 * 1024;

export const makeSandboxLog = (table: Table): SandboxLog => ({
  append: async (workspace, lines) => {
    const part = randomUUID().slice(0, 8);
    for (const [index, portion] of portions(lines).entries()) {
      const at = portion[0]?.at ?? 0;
      const ttl = Math.ceil(at / 1000) + sandboxLogSecondsMax;
      // The suffix retains the order of portions of one moment.
      const key = keys.sandboxLog(workspace, at, `${part}-${String(index).padStart(6, '0')}`);
      const Item = { ...key, lines: portion, ttl };
      await table.client.send(new PutCommand({ TableName: table.name, Item }));
    }
  },
  read: async (workspace, linesMax) => {
    const pages = queryPages(table, {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :log)',
      ExpressionAttributeValues: { ':pk': keys.workspace(workspace).pk, ':log': prefixes.sandboxLog },
      ScanIndexForward: false,
      ConsistentRead: true,
    });
    const lines: LogLine[] = [];
    const known = new Set<string>();
    const isNew = ({ id }: LogLine): boolean => {
      if (id === undefined) return true;
      if (known.has(id)) return false;
      known.add(id);
      return true;
    };
    for await (const items of pages) {
      const found = items.flatMap((item) => [...decodeStored(sandboxLogRecord, item).lines].reverse());
      lines.push(...found.filter(isNew));
      if (lines.length >= linesMax) break;
    }
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
