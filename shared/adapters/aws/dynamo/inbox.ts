/**
 * The inbox: a user's message is accepted in one transaction, under its id, or not at all.
 *
 * The ACCEPTED record outlives the inbox entry, so that a message sent twice is taken once; the counter of
 * the connection bounds what one client may have open.
 */
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { SessionId } from '#shared/domain/ids.ts';
import { openMessagesPerConnectionMax, redriveAfterMs } from '#shared/domain/limits.ts';
import type { AcceptResult, InboxMessage, SessionStore } from '#shared/ports/session-store.ts';
import { inboxItem, sessionDue } from './session-items.ts';
import { type Cancellation, keys, type Table } from './table.ts';
import { sendWithRetry } from './transaction.ts';

/** How long a repeat of a message id is recognised, in seconds. */
const acceptedSecondsMax = 86_400;

export const accept =
  (table: Table): SessionStore['accept'] =>
  async (id, message) => {
    const result = await sendWithRetry(table, acceptance(table.name, id, message));
    return result === 'done' ? 'accepted' : refusal(result);
  };

const refusal = ([accepted, session]: readonly Cancellation[]): AcceptResult => {
  if (accepted?.code === 'ConditionalCheckFailed') return 'duplicate';
  return session?.code === 'ConditionalCheckFailed' ? 'ended' : 'too-many';
};

const acceptance = (TableName: string, id: SessionId, message: InboxMessage): TransactWriteCommand => {
  const ttl = Math.ceil(message.acceptedAt / 1000) + acceptedSecondsMax;
  const isNew = 'attribute_not_exists(pk)';
  return new TransactWriteCommand({
    TransactItems: [
      {
        Put: {
          TableName,
          Item: { ...keys.accepted(id, message.messageId), ttl },
          ConditionExpression: isNew,
        },
      },
      {
        Update: {
          TableName,
          Key: keys.session(id),
          ConditionExpression: '#status IN (:created, :running, :idle)',
          UpdateExpression:
            'SET #status = :running, lastActiveAt = :at, duePk = :duePk, dueAt = :dueAt ADD workSeq :one',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: {
            ':created': 'created',
            ':running': 'running',
            ':idle': 'idle',
            ':at': message.acceptedAt,
            ':one': 1,
            ...sessionDue(id, message.acceptedAt + redriveAfterMs),
          },
        },
      },
      { Put: { TableName, Item: inboxItem(id, message) } },
      ...(message.connectionId === undefined
        ? []
        : [
            {
              Update: {
                TableName,
                Key: keys.openMessages(message.connectionId),
                ConditionExpression: 'attribute_not_exists(openMessages) OR openMessages < :max',
                UpdateExpression: 'SET #ttl = :ttl ADD openMessages :one',
                ExpressionAttributeNames: { '#ttl': 'ttl' },
                ExpressionAttributeValues: { ':max': openMessagesPerConnectionMax, ':one': 1, ':ttl': ttl },
              },
            },
          ]),
    ],
  });
};
