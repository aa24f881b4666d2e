/** Signs of life of a session: heartbeats, and the calls of an execution session while they run. */
import { GetCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { idleLimit } from '#shared/domain/idle-time.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { isEnded, type Session } from '#shared/domain/session.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { itemOfAttempt, newAttempt } from './attempts.ts';
import { endedStatuses, notEnded } from './session-conditions.ts';
import { detailsAsRead } from './session-details.ts';
import { sessionDue, sessionFrom } from './session-items.ts';
import { isConditionFailed, itemOfFailure, keys, namesIn, type Table } from './table.ts';

type Change = {
  readonly when: string;
  readonly set: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly names?: Readonly<Record<string, string>>;
};

/** The session after the change; undefined when the condition did not hold. */
const change = async (
  { client, name }: Table,
  id: string,
  { when, set, values, names = {} }: Change,
): Promise<Session | undefined> => {
  const input: UpdateCommandInput = {
    TableName: name,
    Key: keys.session(id),
    ConditionExpression: `attribute_exists(pk) AND ${when}`,
    UpdateExpression: set,
    ExpressionAttributeValues: { ...values },
    ExpressionAttributeNames: { ...namesIn(`${when} ${set}`), ...names },
    ReturnValues: 'ALL_NEW',
  };
  try {
    const { Attributes } = await client.send(new UpdateCommand(input));
    return Attributes && sessionFrom(Attributes);
  } catch (error) {
    if (isConditionFailed(error)) return undefined;
    throw error;
  }
};

/** Writers at the same moment make each other try again; there are hardly as many at once. */
const racesMax = 20;

/** After the idle time of now: a person may have changed it since the session was read. */
const dueWhenIdle = '#duePk = :duePk, #dueAt = :at + if_not_exists(#idleMs, :idleMs)';

const idleValues = (id: SessionId, { at, idleMs }: { readonly at: number; readonly idleMs: number }) => ({
  ':at': at,
  ':idleMs': idleMs,
  ':duePk': sessionDue(id, at)[':duePk'],
});

/**
 * A look that the janitor put off since the session was read is brought forward, too. By the idle time of now: a refused write is
 * repeated by the session that refused it.
 */
export const touch =
  (table: Table): SessionStore['touch'] =>
  async (session, active) => {
    let known: Session | undefined = session;
    for (let race = 0; race < racesMax; race += 1) {
      if (known === undefined || isEnded(known.status)) return false;
      const tried = await touchAsKnown(table, known, active);
      if (tried.status === 'done') return true;
      known = tried.session;
    }
    throw new Error(`session ${session.id}: it moved ${racesMax} times while its activity was recorded`);
  };

type Touched =
  | { readonly status: 'done' }
  | { readonly status: 'refused'; readonly session: Session | undefined };

const touchAsKnown = async (
  { client, name }: Table,
  known: Session,
  { at, lifetimes }: Parameters<SessionStore['touch']>[1],
): Promise<Touched> => {
  const { id, dueAt: before, idleMs } = known;
  const { ':duePk': duePk, ':dueAt': dueAt } = sessionDue(id, at + idleLimit(known, lifetimes));
  const isLate = before === undefined || before > dueAt;
  const asRead = detailsAsRead({ idleMs });
  const due = isLate ? '(attribute_not_exists(#dueAt) OR #dueAt > :dueAt)' : '#dueAt <= :dueAt';
  const when = [notEnded, due, ...asRead.conditions].join(' AND ');
  const set = `SET #lastActiveAt = :at${isLate ? ', #duePk = :duePk, #dueAt = :dueAt' : ''}`;
  try {
    await client.send(
      new UpdateCommand({
        TableName: name,
        Key: keys.session(id),
        ConditionExpression: `attribute_exists(pk) AND ${when}`,
        UpdateExpression: set,
        ExpressionAttributeNames: namesIn(`${when} ${set}`),
        ExpressionAttributeValues: {
          ...endedStatuses,
          ...asRead.values,
          ...(isLate ? { ':duePk': duePk } : {}),
          ':at': at,
          ':dueAt': dueAt,
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return { status: 'done' };
  } catch (error) {
    if (!isConditionFailed(error)) throw error;
    const item = itemOfFailure(error);
    return { status: 'refused', session: item && sessionFrom(item) };
  }
};

/**
 * Two tries: the values of an update cannot depend on the item it finds. A session that is `creating` waits for
 * its sandbox.
 */
export const beginCall =
  (table: Table): SessionStore['beginCall'] =>
  async (id, call) =>
    (await beginIn(table, id, { ...call, isCreating: false })) ??
    (await beginIn(table, id, { ...call, isCreating: true }));

type Beginning = Parameters<SessionStore['beginCall']>[1] & { readonly isCreating: boolean };

const beginIn = (table: Table, id: SessionId, { key, at, until, idleMs, isCreating }: Beginning) =>
  change(table, id, {
    when: isCreating ? '#status = :creating' : '#status IN (:ready, :running, :paused)',
    set: `SET ${isCreating ? '' : '#status = :running, '}#lastActiveAt = :at, #runningCalls.#call = :until, ${dueWhenIdle}`,
    values: {
      ...(isCreating
        ? { ':creating': 'creating' }
        : { ':ready': 'ready', ':running': 'running', ':paused': 'paused' }),
      ':until': until,
      ...idleValues(id, { at, idleMs }),
    },
    names: { '#call': key },
  });

export const recordRunning =
  (table: Table): SessionStore['recordRunning'] =>
  async (id) => {
    await change(table, id, {
      when: '#status IN (:creating, :ready)',
      set: 'SET #status = :running',
      values: { ':creating': 'creating', ':ready': 'ready', ':running': 'running' },
    });
  };

export const recordReady =
  (table: Table): SessionStore['recordReady'] =>
  async (id, ready) => {
    await change(table, id, {
      when: '#status = :paused',
      set: `SET #status = :ready, ${dueWhenIdle}`,
      values: { ':paused': 'paused', ':ready': 'ready', ...idleValues(id, ready) },
    });
  };

/** The action that pauses an execution session, unless it moved since it was read. */
export const pausing = (
  TableName: string,
  { id, lastActiveAt, workSeq }: Session,
  until: number,
): { readonly Update: UpdateCommandInput & { readonly UpdateExpression: string } } => ({
  Update: {
    TableName,
    Key: keys.session(id),
    ConditionExpression:
      '#status IN (:creating, :ready, :running) AND lastActiveAt = :lastActiveAt AND workSeq = :workSeq',
    UpdateExpression: 'SET #status = :paused, runningCalls = :none, duePk = :duePk, dueAt = :dueAt',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ...{ ':creating': 'creating', ':ready': 'ready', ':running': 'running', ':paused': 'paused' },
      ':lastActiveAt': lastActiveAt,
      ':workSeq': workSeq,
      ':none': {},
      ...sessionDue(id, until),
    },
  },
});

export const pause =
  ({ client, name }: Table): SessionStore['pause'] =>
  async (session, until) => {
    const attempt = newAttempt();
    const { Update } = pausing(name, session, until);
    const named = {
      ...Update,
      UpdateExpression: `${Update.UpdateExpression}, pausedBy = :attempt`,
      ExpressionAttributeValues: { ...Update.ExpressionAttributeValues, ':attempt': attempt },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
    try {
      await client.send(new UpdateCommand(named));
      return true;
    } catch (error) {
      return itemOfAttempt(error, attempt, ({ pausedBy }) => pausedBy) !== undefined;
    }
  };

/** Two tries, because a condition cannot see the map after the update: the last call, else one of several. */
export const endCall =
  (table: Table): SessionStore['endCall'] =>
  async (id, call) => {
    for (let race = 0; race < racesMax; race += 1) {
      if (await endAsLast(table, id, call)) return;
      if (await endAsOneOfSeveral(table, id, call)) return;
      if (await isOver(table, id)) return;
    }
    throw new Error(`session ${id}: its calls moved ${racesMax} times while one of them ended`);
  };

type Ending = Parameters<SessionStore['endCall']>[1];

const isLast = '#status = :running AND attribute_exists(#runningCalls.#call) AND size(#runningCalls) = :one';
const moved = ({ calledIn }: Ending): string =>
  `#lastActiveAt = :at, ${calledIn === undefined ? '' : 'calledIn = :calledIn, '}${dueWhenIdle}`;

const endingValues = (id: SessionId, ending: Ending) => ({
  ':running': 'running',
  ':one': 1,
  ...(ending.calledIn === undefined ? {} : { ':calledIn': ending.calledIn }),
  ...idleValues(id, ending),
});

const endAsLast = async (table: Table, id: SessionId, ending: Ending): Promise<boolean> => {
  const after = await change(table, id, {
    when: isLast,
    set: `SET #status = :rest, ${moved(ending)} REMOVE #runningCalls.#call`,
    values: { ...endingValues(id, ending), ':rest': ending.isWithoutSandbox ? 'paused' : 'ready' },
    names: { '#call': ending.key },
  });
  return after !== undefined;
};

/** Refused for the last one: the call that concurrently became the last must set the session ready. */
const endAsOneOfSeveral = async (table: Table, id: SessionId, ending: Ending): Promise<boolean> => {
  const after = await change(table, id, {
    when: `${notEnded} AND NOT (${isLast})`,
    set: `SET ${moved(ending)} REMOVE #runningCalls.#call`,
    values: { ...endedStatuses, ...endingValues(id, ending) },
    names: { '#call': ending.key },
  });
  return after !== undefined;
};

const isOver = async ({ client, name }: Table, id: SessionId): Promise<boolean> => {
  const { Item } = await client.send(
    new GetCommand({ TableName: name, Key: keys.session(id), ConsistentRead: true }),
  );
  return Item === undefined || isEnded(sessionFrom(Item).status);
};
