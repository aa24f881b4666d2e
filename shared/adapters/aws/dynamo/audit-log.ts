/** `AuditLog` on the one table: a partition per day, kept for a year. */
import { randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { AuditLog } from '#shared/ports/audit-log.ts';
import { keys, type Table } from './table.ts';

const keptSeconds = 366 * 86_400;

export const makeAuditLog = ({ client, name }: Table): AuditLog => ({
  append: async (row) => {
    const ttl = Math.ceil(row.at / 1000) + keptSeconds;
    const Item = { ...keys.audit(row.at, randomUUID().slice(0, 8)), ...row, ttl };
    await client.send(new PutCommand({ TableName: name, Item }));
  },
});
