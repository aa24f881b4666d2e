/** `SessionStore` on the one DynamoDB table; the larger methods have files of their own. */
import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { batchGet } from './batch.ts';
import { dueRecords, listedItems, readable, readableByIds } from './due.ts';
import { pageOfProject } from './project-pages.ts';
import { beginCall, endCall, pause, recordReady, recordRunning, touch } from './session-activity.ts';
import { descendants } from './session-children.ts';
import { changeDetails } from './session-details.ts';
import { ownerPartition, sessionFrom } from './session-items.ts';
import { create, end, postpone } from './session-lifecycle.ts';
import { changeLogged } from './session-logged-change.ts';
import { forget, removeUnused } from './session-removal.ts';
import { resume } from './session-resume.ts';
import { keys, type Table } from './table.ts';

export const makeSessionStore = (table: Table): SessionStore => ({
  create: create(table),
  get: get(table),
  getMany: async (ids, onUnreadable) => {
    const unique = [...new Set(ids)];
    return readableByIds(await batchGet(table, unique.map(keys.session)), sessionFrom, onUnreadable);
  },
  descendants: descendants(table),
  list: list(table),
  listOfProject: async (project, page) => {
    const listing = { project, kind: 'SESSION', keyOf: keys.session } as const;
    const { items, ...rest } = await pageOfProject(table, listing, page);
    return { sessions: items.map(sessionFrom), ...rest };
  },
  touch: touch(table),
  change: changeDetails(table),
  changeLogged: changeLogged(table),
  beginCall: beginCall(table),
  recordRunning: recordRunning(table),
  recordReady: recordReady(table),
  endCall: endCall(table),
  pause: pause(table),
  resume: resume(table),
  end: end(table),
  removeUnused: removeUnused(table),
  forget: forget(table),
  due: (now, itemsMax, onUnreadable) =>
    dueRecords(table, { kind: 'session', now, itemsMax, onUnreadable }, sessionFrom),
  postpone: postpone(table),
  live: async function* (onUnreadable) {
    for await (const items of listedItems(table, 'session'))
      yield readable(items, sessionFrom, (error) => onUnreadable?.(error));
  },
});

const get =
  ({ client, name }: Table): SessionStore['get'] =>
  async (id) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: keys.session(id), ConsistentRead: true }),
    );
    return Item && sessionFrom(Item);
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
