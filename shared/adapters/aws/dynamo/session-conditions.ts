/**
 * Conditions on the record of a session, with the names and the values that they need: that it exists and has not ended, and that an ended
 * one is not sealed, which is the first step of its deletion.
 */
import type { SessionId } from '#shared/domain/ids.ts';
import { keys } from './table.ts';

export const lives = 'attribute_exists(pk) AND NOT #status IN (:completed, :failed, :stopped)';
export const isUnsealed = 'attribute_not_exists(isSealed)';
export const statusNames = { '#status': 'status' };
export const endedStatuses = { ':completed': 'completed', ':failed': 'failed', ':stopped': 'stopped' };

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
