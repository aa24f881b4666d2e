/** `AuditLog` on the one table: a partition a month, retained for a year, read backwards. */
import { randomUUID } from 'node:crypto';
import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { auditRecord } from '#shared/contracts/stored/deployment-records.ts';
import { type AuditRow, auditShownMs } from '#shared/domain/audit.ts';
import type { AuditLog } from '#shared/ports/access.ts';
import { type Item, keys, type Table } from './table.ts';

const keptSeconds = 366 * 86_400;
/** A year, and the month in which it began. */
const monthsMax = 13;
/** Reads of one answer: with a filter, a page may show less than it read. */
const pagesMax = 50;

export const makeAuditLog = (table: Table): AuditLog => ({
  append: async (row) => {
    await table.client.send(new PutCommand({ TableName: table.name, Item: auditItem(row) }));
  },
  list: list(table),
  read: read(table),
});

/** A random suffix distinguishes two rows of one moment. */
export const auditItem = (row: AuditRow): Item => ({
  ...keys.audit(row.at, randomUUID().slice(0, 8)),
  ...row,
  ttl: Math.ceil(row.at / 1000) + keptSeconds,
});

/** Rows with their sort key: the number of the millisecond, then the random suffix. */
type Page = {
  readonly rows: readonly AuditRow[];
  readonly last?: string | undefined;
  readonly hasMore: boolean;
};

const list =
  (table: Table): AuditLog['list'] =>
  async ({ now, project, after, itemsMax }) => {
    const rows: AuditRow[] = [];
    const left = months(after === undefined ? now : Number.parseInt(after, 10), now);
    let at = left.next();
    let last = after;
    for (let page = 0; page < pagesMax && rows.length < itemsMax && !at.done; page += 1) {
      const wanted = { at: at.value, after: last, project, itemsMax: itemsMax - rows.length };
      const { rows: found, last: read, hasMore } = await readPage(table, wanted);
      // The table deletes expired rows within days, in no order.
      rows.push(...found.filter((row) => row.at >= now - auditShownMs));
      last = read ?? last;
      if (!hasMore) at = left.next();
    }
    return at.done || last === undefined ? { rows } : { rows, next: last };
  };

/** One moment of each month that may hold retained rows, the newest first. */
function* months(from: number, now: number): Generator<number, undefined> {
  const first = new Date(from);
  for (let back = 0; back < monthsMax; back += 1) {
    const at = back === 0 ? from : Date.UTC(first.getUTCFullYear(), first.getUTCMonth() - back, 1);
    if (at < now - (keptSeconds + 31 * 86_400) * 1000) return;
    yield at;
  }
}

/** Rows retained by now, from month to month. */
const read =
  (table: Table): AuditLog['read'] =>
  async ({ from, through, after, itemsMax }) => {
    const oldest = through - (keptSeconds + 31 * 86_400) * 1000;
    const start = after === undefined ? Math.max(from, oldest) : Number.parseInt(after, 10);
    for (let at = start; at < through; at = nextMonth(at)) {
      const { Items = [] } = await table.client.send(
        new QueryCommand({
          TableName: table.name,
          KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
          ExpressionAttributeValues: {
            ':pk': keys.audit(at, '').pk,
            // Behind every suffix of the last moment before, and of the row before.
            ':first': at === start && after !== undefined ? `${after}~` : keys.audit(at, '').sk,
            ':last': keys.audit(through - 1, '~').sk,
          },
          Limit: itemsMax,
          ConsistentRead: true,
        }),
      );
      const rows = Items.map((item) => ({ id: String(item['sk']), row: decodeStored(auditRecord, item) }));
      const last = rows.at(-1);
      if (last !== undefined) return { rows, next: last.id };
    }
    return { rows: [] };
  };

const nextMonth = (at: number): number => {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
};

const readPage = async (
  { client, name }: Table,
  wanted: {
    readonly at: number;
    readonly after: string | undefined;
    readonly project: string | undefined;
    readonly itemsMax: number;
  },
): Promise<Page> => {
  const { at, after, project, itemsMax } = wanted;
  const { Items = [], LastEvaluatedKey } = await client.send(
    new QueryCommand({
      TableName: name,
      KeyConditionExpression: after === undefined ? 'pk = :pk' : 'pk = :pk AND sk < :after',
      ExpressionAttributeValues: {
        ':pk': keys.audit(at, '').pk,
        ...(after === undefined ? {} : { ':after': after }),
        ...(project === undefined ? {} : { ':project': project }),
      },
      ...(project === undefined
        ? {}
        : { FilterExpression: '#project = :project', ExpressionAttributeNames: { '#project': 'project' } }),
      ScanIndexForward: false,
      Limit: itemsMax,
      ConsistentRead: true,
    }),
  );
  const last = LastEvaluatedKey?.['sk'] ?? Items.at(-1)?.['sk'];
  return {
    rows: Items.map((item) => decodeStored(auditRecord, item)),
    last: last === undefined ? undefined : String(last),
    hasMore: LastEvaluatedKey !== undefined,
  };
};
