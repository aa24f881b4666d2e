/** `SessionStore` on the one DynamoDB table; the larger methods have files of their own. */
import { BatchGetCommand, GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Session } from '#shared/domain/session.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { dueItems } from './due.ts';
import { append, readEvents } from './event-log.ts';
import { accept } from './inbox.ts';
import { releaseLease, renewLease, takeLease } from './lease.ts';
import { ownerPartition, sessionDue, sessionFrom, sessionItem, turnFrom } from './session-items.ts';
import { history, loadWork } from './session-work.ts';
import { isConditionFailed, keys, type Table } from './table.ts';
import { commitTurn } from './turn-commit.ts';

export const makeSessionStore = (table: Table): SessionStore => ({
  create: create(table),
  get: get(table),
  getWithTurn: getWithTurn(table),
  list: list(table),
  accept: accept(table),
  takeLease: takeLease(table),
  renewLease: renewLease(table),
  releaseLease: releaseLease(table),
  loadWork: loadWork(table),
  commitTurn: commitTurn(table),
  append: append(table),
  readEvents: readEvents(table),
  history: history(table),
  end: end(table),
  due: async (now, itemsMax) => (await dueItems(table, { kind: 'session', now, itemsMax })).map(sessionFrom),
  postpone: postpone(table),
});

const create =
  ({ client, name }: Table): SessionStore['create'] =>
  async (session) => {
    try {
      await client.send(
        new PutCommand({
          TableName: name,
          Item: sessionItem(session),
          ConditionExpression: 'attribute_not_exists(pk)',
        }),
      );
      return 'created';
    } catch (error) {
      if (isConditionFailed(error)) return 'exists';
      throw error;
    }
  };

const get =
  ({ client, name }: Table): SessionStore['get'] =>
  async (id) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: keys.session(id), ConsistentRead: true }),
    );
    return Item && sessionFrom(Item);
  };

const getWithTurn =
  ({ client, name }: Table): SessionStore['getWithTurn'] =>
  async (id) => {
    const { Responses } = await client.send(
      new BatchGetCommand({
        RequestItems: { [name]: { Keys: [keys.session(id), keys.turn(id)], ConsistentRead: true } },
      }),
    );
    const items = Responses?.[name] ?? [];
    const meta = items.find(({ sk }) => sk === 'META');
    return meta && { session: sessionFrom(meta), turn: turnFrom(items.find(({ sk }) => sk === 'TURN')) };
  };

const list =
  ({ client, name }: Table): SessionStore['list'] =>
  async (owner, { after, itemsMax }) => {
    const pk = ownerPartition(owner);
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: name,
        IndexName: 'owner',
        KeyConditionExpression: after === undefined ? 'ownerPk = :pk' : 'ownerPk = :pk AND ownerSk < :after',
        ExpressionAttributeValues: { ':pk': pk, ...(after === undefined ? {} : { ':after': after }) },
        ScanIndexForward: false,
        Limit: itemsMax,
      }),
    );
    const next = LastEvaluatedKey?.['ownerSk'];
    return { sessions: Items.map(sessionFrom), ...(next === undefined ? {} : { next: String(next) }) };
  };

const end =
  ({ client, name }: Table): SessionStore['end'] =>
  async (id, status, at) => {
    try {
      const { Attributes } = await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.session(id),
          ConditionExpression: 'attribute_exists(pk) AND NOT #status IN (:completed, :failed, :stopped)',
          UpdateExpression: 'SET #status = :status, lastActiveAt = :at REMOVE duePk, dueAt',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: {
            ':status': status,
            ':at': at,
            ':completed': 'completed',
            ':failed': 'failed',
            ':stopped': 'stopped',
          },
          ReturnValues: 'ALL_NEW',
        }),
      );
      return Attributes && sessionFrom(Attributes);
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
  };

const postpone =
  ({ client, name }: Table): SessionStore['postpone'] =>
  async ({ id, workSeq, lease }: Session, dueAt) => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.session(id),
          ConditionExpression: 'workSeq = :workSeq AND leaseFence = :fence',
          UpdateExpression:
            dueAt === undefined ? 'REMOVE duePk, dueAt' : 'SET duePk = :duePk, dueAt = :dueAt',
          ExpressionAttributeValues: {
            ':workSeq': workSeq,
            ':fence': lease.fence,
            ...(dueAt === undefined ? {} : sessionDue(id, dueAt)),
          },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };
