/** The session's part of a turn's commit: its log's end, its settings, its lease and its slot, and the conditions of the write. */
import { redriveAfterMs } from '#shared/domain/limits.ts';
import { turnDetailsOf } from '#shared/domain/session-details.ts';
import type { Slot } from '#shared/domain/slot.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import type { TurnCommit } from '#shared/ports/turn-store.ts';
import { inboxHolds, waitingIn } from './inbox.ts';
import { endedStatuses, notEnded } from './session-conditions.ts';
import { detailsAsRead } from './session-details.ts';
import { sessionDue } from './session-items.ts';
import type { Actions } from './slot-moves.ts';
import { type Item, keys } from './table.ts';

/** A writer without the lease that invokes no turn: it has to have seen all work. */
export const wakesForNothingElse = ({ fence, wakes }: TurnCommit): boolean => fence === undefined && !wakes;

/** A session becomes idle with its last message: that is the one in the inbox, where a turn ends. */
const inboxOf = ({ completed }: Pick<TurnCommit, 'completed'>): number => (completed === undefined ? 0 : 1);

/** False when a message waits that a writer did not see, which says that the session is idle. */
export const hasInboxAsSeen = (commit: Pick<TurnCommit, 'completed' | 'patch'>, now: Item): boolean =>
  commit.patch?.status !== 'idle' || waitingIn(now) === inboxOf(commit);

export const sessionUpdate = (
  TableName: string,
  commit: TurnCommit,
  { eventCount, slot }: { readonly eventCount: number; readonly slot: Slot },
): Actions[number] => {
  const { session, fence, patch = {}, release, wakes, completed } = commit;
  const conditions = ['lastSeq = :lastSeq', notEnded];
  const sets = ['lastSeq = :newSeq'];
  const values: Record<string, unknown> = {
    ':lastSeq': session.lastSeq,
    ':newSeq': session.lastSeq + eventCount,
    ...endedStatuses,
  };
  const names: Record<string, string> = { '#status': 'status' };
  // TM5: the parent of a first child learns here that its next model call belongs to its tree.
  if (session.hasChildren === undefined) conditions.push('attribute_not_exists(hasChildren)');
  const slotPart = movedSlot(commit, slot);
  conditions.push(...slotPart.conditions);
  sets.push(...slotPart.sets);
  Object.assign(values, slotPart.values);
  const details = detailsAsRead(turnDetailsOf(session));
  conditions.push(...details.conditions);
  Object.assign(names, details.names);
  Object.assign(values, details.values);
  // A heartbeat of a client may be newer than the event: the idle time begins with the latest.
  if (patch.lastActiveAt !== undefined) conditions.push('lastActiveAt <= :patch_lastActiveAt');
  for (const [key, value] of Object.entries(patch)) {
    names[`#${key}`] = key;
    values[`:patch_${key}`] = value;
    sets.push(`#${key} = :patch_${key}`);
  }
  if (fence !== undefined) {
    conditions.push('leaseFence = :fence');
    values[':fence'] = fence;
  }
  if (release || wakesForNothingElse(commit) || patch.status === 'idle') {
    conditions.push('workSeq = :workSeq');
    values[':workSeq'] = session.workSeq;
  }
  if (patch.status === 'idle') {
    const inbox = inboxHolds(inboxOf(commit));
    conditions.push(inbox.when);
    Object.assign(values, inbox.values);
  }
  if (release) {
    sets.push('leaseHolder = :nobody', 'leaseUntil = :zero');
    Object.assign(values, { ':nobody': '', ':zero': 0 });
  }
  const checkAt = nextCheck(commit);
  if (checkAt !== undefined) {
    sets.push('duePk = :duePk', 'dueAt = :dueAt');
    Object.assign(values, sessionDue(session.id, checkAt));
  }
  const adds = wakes ? ['workSeq :one'] : [];
  if (wakes) values[':one'] = 1;
  if (completed !== undefined) {
    adds.push('inboxMessages :minusOne', 'inboxBytes :minusBytes');
    Object.assign(values, { ':minusOne': -1, ':minusBytes': -utf8Bytes(completed.text) });
  }
  return {
    Update: {
      TableName,
      Key: keys.session(session.id),
      ConditionExpression: conditions.join(' AND '),
      UpdateExpression: `SET ${sets.join(', ')}${adds.length === 0 ? '' : ` ADD ${adds.join(', ')}`}`,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
};

/** The time of the janitor's next check; undefined where this write leaves it. One that the janitor moved since it was read is written again. */
const nextCheck = (commit: TurnCommit): number | undefined => {
  const { session, at, release, wakes, dueAt } = commit;
  if (wakes) return at + redriveAfterMs;
  if (release) return dueAt;
  return wakesForNothingElse(commit) ? Math.min(dueAt, session.dueAt ?? dueAt) : undefined;
};

/** The slot after the commit, if the turn's part of it is as the writer read it. */
const movedSlot = ({ session, slot: move }: TurnCommit, slot: Slot) =>
  move === undefined
    ? { conditions: [], sets: [], values: {} }
    : {
        conditions: [`attribute_${session.slot?.turn === undefined ? 'not_' : ''}exists(slot.turn)`],
        sets: ['slot = :slot'],
        values: { ':slot': slot },
      };
