/** How sessions and what belongs to them are written as items; the contracts decode them on the way back. */
import { decodeStored } from '#shared/contracts/decode.ts';
import {
  historyRecord,
  inboxRecord,
  logRecord,
  sessionRecord,
  turnState,
} from '#shared/contracts/stored-records.ts';
import type { LogEvent } from '#shared/domain/event-log.ts';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { Session } from '#shared/domain/session.ts';
import { noTurn, type TurnRecord } from '#shared/domain/turn/turn.ts';
import type { InboxMessage } from '#shared/ports/session-store.ts';
import { duePartition, dueShardOf, type Item, keys } from './table.ts';

export const sessionItem = ({ lease, ...session }: Session): Item => ({
  ...keys.session(session.id),
  ...session,
  leaseHolder: lease.holder,
  leaseFence: lease.fence,
  leaseUntil: lease.until,
  ownerPk: ownerPartition(session.owner),
  ownerSk: `${String(session.createdAt).padStart(13, '0')}#${session.id}`,
});

export const ownerPartition = (owner: string): string => `OWNER#${owner}#SESSION`;

export const sessionDue = (id: SessionId, dueAt: number) => ({
  ':duePk': duePartition('session', dueShardOf(id)),
  ':dueAt': dueAt,
});

export const sessionFrom = (item: Item): Session => {
  const {
    leaseHolder: holder,
    leaseFence: fence,
    leaseUntil: until,
    ...session
  } = decodeStored(sessionRecord, item);
  return { ...session, lease: { holder, fence, until } };
};

export const turnItem = (id: SessionId, { version, state, historyNext }: TurnRecord): Item => ({
  ...keys.turn(id),
  version,
  historyNext,
  state: JSON.stringify(state),
});

export const turnFrom = (item: Item | undefined): TurnRecord =>
  item === undefined
    ? noTurn
    : {
        version: Number(item['version']),
        historyNext: Number(item['historyNext']),
        state: decodeStored(turnState, JSON.parse(String(item['state']))),
      };

export const eventItem = (id: SessionId, { seq, at, ...entry }: LogEvent): Item => ({
  ...keys.event(id, seq),
  seq,
  at,
  entry: JSON.stringify(entry),
});

export const eventFrom = (item: Item): LogEvent => ({
  ...decodeStored(logRecord, JSON.parse(String(item['entry']))),
  seq: Number(item['seq']),
  at: Number(item['at']),
});

export const messageItem = (id: SessionId, index: number, message: HistoryMessage): Item => ({
  ...keys.message(id, index),
  message: JSON.stringify(message),
});

export const messageFrom = (item: Item): HistoryMessage =>
  decodeStored(historyRecord, JSON.parse(String(item['message'])));

export const inboxItem = (id: SessionId, message: InboxMessage): Item => ({
  ...keys.inbox(id, message.acceptedAt, message.messageId),
  ...message,
});

export const inboxFrom = (item: Item): InboxMessage => decodeStored(inboxRecord, item);
