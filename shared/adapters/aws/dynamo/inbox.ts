/**
 * The inbox: a user's message is accepted in one transaction, under its id, or not at all, and leaves with the commit that
 * completes its turn.
 *
 * The ACCEPTED record outlives the inbox entry, so that a message sent twice is accepted once; the connection's
 * counter bounds the open messages of one client, the session's counters its waiting ones; a session's first
 * message acquires its slot.
 */
import { GetCommand, TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import {
  openMessagesPerConnectionMax,
  redriveAfterMs,
  waitingBytesMax,
  waitingMessagesMax,
} from '#shared/domain/limits.ts';
import { holdsSlot, isEnded, type Session } from '#shared/domain/session.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import type { AcceptResult, Inbox, InboxMessage } from '#shared/ports/inbox.ts';
import type { TurnCommit } from '#shared/ports/turn-store.ts';
import { inboxItem, sessionDue, sessionFrom } from './session-items.ts';
import { acquireSlot } from './slots.ts';
import { type Cancellation, type Item, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;

/** The time for which a repeated message id is recognised, in seconds. */
const acceptedSecondsMax = 86_400;
/** A counter that outlived its connection's messages, in seconds. */
const openMessagesSecondsMax = 86_400;

export const makeInbox = (table: Table): Inbox => ({
  accept: accept(table),
  wasAccepted: async (id, message) => {
    const Key = keys.accepted(id, message);
    const got = new GetCommand({ TableName: table.name, Key, ConsistentRead: true });
    return (await table.client.send(got)).Item !== undefined;
  },
});

const accept =
  (table: Table): Inbox['accept'] =>
  async (session, message, slotsMax) => {
    const result = await transact(table, acceptance(table.name, session, { message, slotsMax }));
    if (result === 'done') return 'accepted';
    const refused = refusal(result, message);
    if (refused !== 'moved') return refused;
    const item = result[1]?.item ?? {};
    const now = sessionFrom(item);
    if (isEnded(now.status)) return 'ended';
    if (isCrowded(item, message)) return 'crowded';
    return accept(table)(now, message, slotsMax);
  };

const isRefused = (cancellation: Cancellation | undefined): boolean =>
  cancellation?.code === 'ConditionalCheckFailed';

/** WS6. The counters of a session's inbox are in its item, and only the code that adds to them reads them. */
const isCrowded = ({ inboxMessages, inboxBytes }: Item, { text }: InboxMessage): boolean =>
  Number(inboxMessages ?? 0) >= waitingMessagesMax ||
  Number(inboxBytes ?? 0) > waitingBytesMax - utf8Bytes(text);

/** `moved`: the session concurrently got its first message, or ended, or has no room for one more. */
const refusal = (
  [accepted, session, , next]: readonly Cancellation[],
  { connectionId }: InboxMessage,
): AcceptResult | 'moved' => {
  if (isRefused(accepted)) return 'duplicate';
  if (isRefused(session)) return session?.item === undefined ? 'ended' : 'moved';
  return connectionId !== undefined && isRefused(next) ? 'too-many' : 'full';
};

const acceptance = (
  TableName: string,
  session: Session,
  { message, slotsMax }: { readonly message: InboxMessage; readonly slotsMax: number },
): TransactWriteCommand => {
  const ttl = Math.ceil(message.acceptedAt / 1000) + acceptedSecondsMax;
  const acquiresSlot = session.status === 'created' && holdsSlot({ ...session, status: 'running' });
  return new TransactWriteCommand({
    TransactItems: [
      {
        Put: {
          TableName,
          Item: { ...keys.accepted(session.id, message.messageId), ttl },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
      sessionUpdate(TableName, session, message),
      { Put: { TableName, Item: inboxItem(session.id, message) } },
      ...connectionUpdates(TableName, message, ttl),
      ...(acquiresSlot ? acquireSlot(TableName, session, { at: message.acceptedAt, slotsMax }) : []),
    ],
  });
};

const hasRoom =
  '(attribute_not_exists(inboxMessages) OR (inboxMessages < :messagesMax AND inboxBytes <= :bytesLeft))';

const sessionUpdate = (
  TableName: string,
  { id, status }: Session,
  message: InboxMessage,
): Actions[number] => {
  const bytes = utf8Bytes(message.text);
  return {
    Update: {
      TableName,
      Key: keys.session(id),
      ConditionExpression: `${status === 'created' ? '#status = :created' : '#status IN (:running, :idle)'} AND ${hasRoom}`,
      UpdateExpression:
        'SET #status = :running, lastActiveAt = :at, duePk = :duePk, dueAt = :dueAt ADD workSeq :one, inboxMessages :one, inboxBytes :bytes',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ...(status === 'created' ? { ':created': 'created' } : { ':idle': 'idle' }),
        ':running': 'running',
        ':at': message.acceptedAt,
        ':one': 1,
        ':bytes': bytes,
        ':messagesMax': waitingMessagesMax,
        ':bytesLeft': waitingBytesMax - bytes,
        ...sessionDue(id, message.acceptedAt + redriveAfterMs),
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
};

/** A message that came by REST counts for no connection. */
const connectionUpdates = (TableName: string, { connectionId }: InboxMessage, ttl: number): Actions =>
  connectionId === undefined
    ? []
    : [
        {
          Update: {
            TableName,
            Key: keys.openMessages(connectionId),
            ConditionExpression: 'attribute_not_exists(openMessages) OR openMessages < :max',
            UpdateExpression: 'SET #ttl = :ttl ADD openMessages :one',
            ExpressionAttributeNames: { '#ttl': 'ttl' },
            ExpressionAttributeValues: { ':max': openMessagesPerConnectionMax, ':one': 1, ':ttl': ttl },
          },
        },
      ];

/** A page or an item that was read early may still show a message that is completed: it is never begun again. */
export const stillWaits = (TableName: string, { session, begins }: TurnCommit): Actions =>
  begins === undefined
    ? []
    : [
        {
          ConditionCheck: {
            TableName,
            Key: keys.inbox(session.id, begins.acceptedAt, begins.messageId),
            ConditionExpression: 'attribute_exists(pk)',
          },
        },
      ];

/** The message of a turn that ends leaves, and its connection may have one more. */
export const completedActions = (TableName: string, { session, completed, at }: TurnCommit): Actions => {
  if (completed === undefined) return [];
  const inbox = {
    Delete: { TableName, Key: keys.inbox(session.id, completed.acceptedAt, completed.messageId) },
  };
  if (completed.connectionId === undefined) return [inbox];
  const place = {
    Update: {
      TableName,
      Key: keys.openMessages(completed.connectionId),
      // The counter may have expired before its message was completed: the one made here expires, too.
      UpdateExpression: 'SET #ttl = if_not_exists(#ttl, :ttl) ADD openMessages :minusOne',
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':minusOne': -1, ':ttl': Math.ceil(at / 1000) + openMessagesSecondsMax },
    },
  };
  return [inbox, place];
};
