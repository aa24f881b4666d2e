/** `CallerStore`: one item per caller beside the session, where a turn's one query finds it. */
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { callerAnswerRecord, callerRecord } from '#shared/contracts/stored/session-records.ts';
import { type Caller, callersPerSessionMax, withdraws } from '#shared/domain/caller-tool.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { CallerStore } from '#shared/ports/calls.ts';
import { itemOfAttempt, newAttempt } from './attempts.ts';
import { whileLives } from './session-conditions.ts';
import { type Item, isConditionFailed, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';

export const makeCallerStore = (table: Table): CallerStore => ({
  declare: async (session, caller) => {
    const { name: TableName } = table;
    const Key = keys.caller(session, caller.callerId);
    const tools = JSON.stringify(caller.tools);
    const isOffer = !withdraws(caller);
    if (isOffer && (await countOthers(table, session, caller)) >= callersPerSessionMax) return 'full';
    // An offer does not expire: it is deleted with its session, or before it.
    const write = isOffer
      ? { Put: { TableName, Item: { ...Key, ...caller, tools } } }
      : { Delete: { TableName, Key } };
    const TransactItems = [write, whileLives(TableName, session)];
    const result = await transact(table, new TransactWriteCommand({ TransactItems }));
    return result === 'done' ? 'declared' : 'ended';
  },
  list: (session) => list(table, session),
  withdraw: async (session, callerId, { connectionId, offer }) => {
    const [name, value] = offer === undefined ? ['connectionId', connectionId] : ['offer', offer];
    try {
      await table.client.send(
        new DeleteCommand({
          TableName: table.name,
          Key: keys.caller(session, callerId),
          ConditionExpression: '#name = :value',
          ExpressionAttributeNames: { '#name': name },
          ExpressionAttributeValues: { ':value': value },
        }),
      );
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
    }
  },
  ask: async (session, requestId, until) => {
    const ttl = Math.ceil(until / 1000) + forgottenSeconds;
    const Item = { ...keys.callerCall(session, requestId), until, ttl };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
  },
  answer: async (session, requestId, { text, isError, at }) => {
    const attempt = newAttempt();
    try {
      await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: keys.callerCall(session, requestId),
          ConditionExpression: '#until > :at AND attribute_not_exists(answer)',
          UpdateExpression: 'SET answer = :answer, answeredBy = :attempt',
          ExpressionAttributeNames: { '#until': 'until' },
          ExpressionAttributeValues: { ':at': at, ':answer': { text, isError }, ':attempt': attempt },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return 'answered';
    } catch (error) {
      const own = itemOfAttempt(error, attempt, ({ answeredBy }) => answeredBy);
      return own === undefined ? 'late' : 'answered';
    }
  },
  answerTo: async (session, requestId) => {
    const { Item } = await table.client.send(
      new GetCommand({
        TableName: table.name,
        Key: keys.callerCall(session, requestId),
        ConsistentRead: true,
      }),
    );
    return Item?.['answer'] === undefined ? undefined : decodeStored(callerAnswerRecord, Item['answer']);
  },
});

const countOthers = async (table: Table, session: SessionId, { callerId: own }: Caller): Promise<number> =>
  (await list(table, session)).filter(({ callerId }) => callerId !== own).length;

/** The time for which an answer is kept after it has expired, in seconds. */
const forgottenSeconds = 3600;

const list = async ({ client, name }: Table, session: SessionId): Promise<readonly Caller[]> => {
  const { pk, sk } = keys.caller(session, '');
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: name,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
      ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
      ConsistentRead: true,
    }),
  );
  return Items.map(callerFrom);
};

export const callerFrom = (item: Item): Caller => decodeStored(callerRecord, item);
