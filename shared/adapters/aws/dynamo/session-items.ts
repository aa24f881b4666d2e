/** Sessions and the events of their logs as items; the contracts decode them on the way back. */
import { decodeStored } from '#shared/contracts/decode.ts';
import { cutData } from '#shared/contracts/frames.ts';
import { logRecord, sessionRecord } from '#shared/contracts/stored/session-records.ts';
import type { LogEvent } from '#shared/domain/event-log.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { eventBytesMax } from '#shared/domain/limits.ts';
import type { Session } from '#shared/domain/session.ts';
import { dueValues, type Item, keys } from './table.ts';

export const sessionItem = ({ lease, ...session }: Session): Item => ({
  ...keys.session(session.id),
  ...session,
  ...(session.dueAt === undefined ? {} : { duePk: sessionDue(session.id, session.dueAt)[':duePk'] }),
  leaseHolder: lease.holder,
  leaseFence: lease.fence,
  leaseUntil: lease.until,
  ownerPk: ownerPartition(session.owner),
  ownerSk: `${String(session.createdAt).padStart(13, '0')}#${session.id}`,
});

/** The entry by which a session is listed in its project. */
export const pointerOf = ({ project, createdAt, id }: Pick<Session, 'project' | 'createdAt' | 'id'>) =>
  keys.projectSession(project, createdAt, id);

export const ownerPartition = (owner: string): string => `OWNER#${owner}#SESSION`;

export const sessionDue = (id: SessionId, dueAt: number) => dueValues('session', id, dueAt);

export const sessionFrom = (item: Item): Session => {
  const {
    leaseHolder: holder,
    leaseFence: fence,
    leaseUntil: until,
    ...session
  } = decodeStored(sessionRecord, item);
  return { ...session, lease: { holder, fence, until } };
};

export const eventItem = (id: SessionId, { seq, at, ...entry }: LogEvent): Item => ({
  ...keys.event(id, seq),
  seq,
  at,
  entry: JSON.stringify({ ...entry, data: cutData(entry, eventBytesMax) }),
});

export const eventFrom = (item: Item): LogEvent => ({
  ...decodeStored(logRecord, JSON.parse(String(item['entry']))),
  seq: Number(item['seq']),
  at: Number(item['at']),
});
