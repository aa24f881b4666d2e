/**
 * The inbox: a user's message is accepted in one transaction, under its id, or not at all, and leaves with the commit that
 * completes its turn.
 *
 * The ACCEPTED record outlives the inbox entry, so that a message sent twice is accepted once; the connection's
 * counter bounds the open messages of one client, the session's counters its waiting ones; a message to a session that
 * rests acquires the slot of its turn.
 */
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import {
  openMessagesPerConnectionMax,
  redriveAfterMs,
  waitingBytesMax,
  waitingMessagesMax,
} from '#shared/domain/limits.ts';
import { isEnded, type Session } from '#shared/domain/session.ts';
import { turnTakesSlot } from '#shared/domain/session-slot.ts';
import type { Slot } from '#shared/domain/slot.ts';
import { slotHolderOf } from '#shared/domain/slot-holder.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import type { AcceptResult, Inbox, InboxLimits, InboxMessage } from '#shared/ports/inbox.ts';
import type { TurnCommit } from '#shared/ports/turn-store.ts';
import { inboxItems } from './inbox-items.ts';
import { keysOf } from './item-parts.ts';
import { sessionDue, sessionFrom } from './session-items.ts';
import { type Actions, type SlotMove, transactMoving } from './slot-moves.ts';
import { type Cancellation, type Item, keys, type Table } from './table.ts';

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
  async (session, message, limits) => {
    const move = moveOf(session, message, limits);
    const moved = await transactMoving(table, move, (slot) =>
      acceptance(table.name, session, { message, slot: move?.change === undefined ? undefined : slot }),
    );
    if (moved.status === 'done') return 'accepted';
    if (moved.status !== 'refused') return moved.status === 'crowded' ? 'conversations' : 'full';
    const refused = refusal(moved.reasons);
    if (refused !== 'moved') return refused;
    const item = moved.reasons[1]?.item ?? {};
    return obstacle(item, message) ?? accept(table)(sessionFrom(item), message, limits);
  };

/** A turn that works already, or waits for a person, takes no slot for a message that waits behind it. */
const moveOf = (
  session: Session,
  { acceptedAt: at }: InboxMessage,
  { slotsMax, conversationsMax }: InboxLimits,
): SlotMove | undefined => {
  if (!turnTakesSlot(session) || !takesSlot(session)) return undefined;
  const { id, slot: known = {}, status } = session;
  return {
    ...{ holder: slotHolderOf(session), session: id, known, change: { type: 'turn-began' }, at, slotsMax },
    conversations: status === 'created' ? { step: 1, max: conversationsMax } : undefined,
  };
};

const takesSlot = ({ status, slot }: Session): boolean => status !== 'running' && slot?.turn === undefined;

const isRefused = (cancellation: Cancellation | undefined): boolean =>
  cancellation?.code === 'ConditionalCheckFailed';

/**
 * WS6. The counters of a session's inbox, which holds the message in progress as well, are in its item.
 */
const isCrowded = (item: Item, { text }: InboxMessage): boolean =>
  waitingIn(item) > waitingMessagesMax || Number(item['inboxBytes'] ?? 0) > waitingBytesMax - utf8Bytes(text);

/** The number of messages in the inbox, the one in progress included, as the session's item says. */
export const waitingIn = ({ inboxMessages }: Item): number => Number(inboxMessages ?? 0);

/**
 * An inbox that was read may lack a message whose session was read with it: a query may meet half of a transaction. A write that says
 * how many there are proves it.
 */
export const inboxHolds = (messages: number) => ({
  when: `(inboxMessages = :inbox${messages === 0 ? ' OR attribute_not_exists(inboxMessages)' : ''})`,
  values: { ':inbox': messages },
});

const obstacle = (item: Item, message: InboxMessage): AcceptResult | undefined => {
  const { status } = sessionFrom(item);
  if (isEnded(status)) return 'ended';
  if (isCrowded(item, message)) return 'crowded';
  return message.repeats !== undefined && status !== 'idle' ? 'busy' : undefined;
};

/** `moved`: the session concurrently got a message, or rested, or ended, or has no room for one more. */
const refusal = ([accepted, session]: readonly Cancellation[]): AcceptResult | 'moved' => {
  if (isRefused(accepted)) return 'duplicate';
  if (isRefused(session)) return session?.item === undefined ? 'ended' : 'moved';
  return 'too-many';
};

const acceptance = (
  TableName: string,
  session: Session,
  { message, slot }: { readonly message: InboxMessage; readonly slot: Slot | undefined },
): Actions => {
  const ttl = Math.ceil(message.acceptedAt / 1000) + acceptedSecondsMax;
  return [
    {
      Put: {
        TableName,
        Item: { ...keys.accepted(session.id, message.repeats ?? message.messageId), ttl },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
    sessionUpdate(TableName, session, { message, slot }),
    ...inboxItems(session.id, message).map((Item) => ({ Put: { TableName, Item } })),
    ...connectionUpdates(TableName, message, ttl),
  ];
};

const hasRoom =
  '(attribute_not_exists(inboxMessages) OR (inboxMessages <= :messagesMax AND inboxBytes <= :bytesLeft))';

const sessionUpdate = (
  TableName: string,
  session: Session,
  { message, slot }: { readonly message: InboxMessage; readonly slot: Slot | undefined },
): Actions[number] => {
  const bytes = utf8Bytes(message.text);
  const { when, values } = asRead(session, message);
  return {
    Update: {
      TableName,
      Key: keys.session(session.id),
      ConditionExpression: `${when} AND ${hasRoom}`,
      UpdateExpression: `SET #status = :running, lastActiveAt = :at, duePk = :duePk, dueAt = :dueAt${slot === undefined ? '' : ', slot = :slot'} ADD workSeq :one, inboxMessages :one, inboxBytes :bytes`,
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ...values,
        ...(slot === undefined ? {} : { ':slot': slot }),
        ':running': 'running',
        ':at': message.acceptedAt,
        ':one': 1,
        ':bytes': bytes,
        ':messagesMax': waitingMessagesMax,
        ':bytesLeft': waitingBytesMax - bytes,
        ...sessionDue(session.id, message.acceptedAt + redriveAfterMs),
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
};

/** The status and the turn's slot must be as read: they decide whether the message takes a slot. */
const asRead = (
  session: Session,
  { repeats }: Pick<InboxMessage, 'repeats'>,
): { readonly when: string; readonly values: Record<string, string> } => {
  const { status, slot } = session;
  if (repeats !== undefined) return asResting(session);
  if (status === 'created') return { when: '#status = :created', values: { ':created': 'created' } };
  const active = { when: '#status IN (:running, :idle)', values: { ':idle': 'idle' } };
  if (!turnTakesSlot(session)) return active;
  if (slot?.turn !== undefined) return { ...active, when: `${active.when} AND attribute_exists(slot.turn)` };
  return status === 'idle'
    ? { when: '#status = :idle AND attribute_not_exists(slot.turn)', values: active.values }
    : { when: '#status = :running AND attribute_not_exists(slot.turn)', values: {} };
};

/** A failed turn is repeated while it is the last, and nothing waits behind it. */
const asResting = (session: Session): { readonly when: string; readonly values: Record<string, string> } => {
  const holds = session.slot?.turn !== undefined;
  const slot = turnTakesSlot(session) ? ` AND attribute_${holds ? '' : 'not_'}exists(slot.turn)` : '';
  return { when: `#status = :idle${slot}`, values: { ':idle': 'idle' } };
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

/** The message of a turn that ends leaves, once, and its connection may have one more. */
export const completedActions = (TableName: string, { session, completed, at }: TurnCommit): Actions => {
  if (completed === undefined) return [];
  const Key = keys.inbox(session.id, completed.acceptedAt, completed.messageId);
  const [, ...parts] = keysOf(Key, completed.parts);
  const inbox: Actions = [
    { Delete: { TableName, Key, ConditionExpression: 'attribute_exists(pk)' } },
    ...parts.map((part) => ({ Delete: { TableName, Key: { ...part } } })),
  ];
  if (completed.connectionId === undefined) return inbox;
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
  return [...inbox, place];
};
