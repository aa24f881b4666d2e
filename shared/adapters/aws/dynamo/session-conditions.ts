/**
 * Conditions on the record of a session, with the names and values that they need: it exists and has not ended; an ended one is
 * not sealed. Sealing is the first step of a deletion.
 */
import type { SessionId } from '#shared/domain/ids.ts';
import { endedStatuses as statuses } from '#shared/domain/session.ts';
import { keys } from './table.ts';

/** The values of `hasEnded`, `notEnded` and `lives`. */
export const endedStatuses: Readonly<Record<string, string>> = Object.fromEntries(
  statuses.map((status) => [`:${status}`, status]),
);
export const hasEnded = `#status IN (${Object.keys(endedStatuses).join(', ')})`;
export const notEnded = `NOT ${hasEnded}`;
export const lives = `attribute_exists(pk) AND ${notEnded}`;
export const isUnsealed = 'attribute_not_exists(isSealed)';
export const statusNames = { '#status': 'status' };

/** A part of a transaction that fails once the session has ended. */
export const whileLives = (TableName: string, session: SessionId) => ({
  ConditionCheck: {
    TableName,
    Key: keys.session(session),
    ConditionExpression: lives,
    ExpressionAttributeNames: statusNames,
    ExpressionAttributeValues: endedStatuses,
  },
});
