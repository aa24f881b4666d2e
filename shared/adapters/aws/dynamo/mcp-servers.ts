/**
 * `McpServerStore` on the one table: an item per server in its project's partition, beside a counter that makes
 * the limit hard. Configuration and tools are one text, compressed where it is long. A write names the version it
 * read, and the time of registration, since a server that was removed and added again starts from the first
 * version.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import { GetCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { mcpServerRecord } from '#shared/contracts/stored/project-records.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import type { McpServer } from '#shared/domain/mcp/server.ts';
import type { McpServerStore } from '#shared/ports/mcp-servers.ts';
import { itemOfAttempt, newAttempt } from './attempts.ts';
import { dueRecords } from './due.ts';
import { featureUsed } from './features.ts';
import { prefixedItems } from './partition.ts';
import { ifProjectNotDeleted, isInDeletedProject } from './project-not-deleted.ts';
import type { Actions } from './slot-moves.ts';
import { dueValues, type Item, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';

/** A write costs by the kilobyte, and every check writes. */
const packedFromCharacters = 1024;
/** More than configuration and tools may have; a longer claimed size is not unpacked. */
const textBytesMax = 1_048_576;

const itemOf = (server: McpServer, dueAt: number | undefined): Item => {
  const { config, tools, ...rest } = server;
  const text = JSON.stringify({ config, tools });
  const { ':duePk': duePk } = dueValues('mcp', server.project, 0);
  return {
    ...keys.mcpServer(server.project, server.name),
    ...rest,
    ...(text.length < packedFromCharacters ? { body: text } : { packed: gzipSync(text) }),
    ...(dueAt === undefined ? {} : { duePk, dueAt }),
  };
};

const serverFrom = ({ body, packed, ...item }: Item): McpServer => {
  const text =
    packed instanceof Uint8Array
      ? gunzipSync(packed, { maxOutputLength: textBytesMax }).toString()
      : String(body);
  return decodeStored(mcpServerRecord, { ...item, ...JSON.parse(text) });
};

export const makeMcpServerStore = (table: Table): McpServerStore => ({
  add: add(table),
  get: get(table),
  list: list(table),
  replace: replace(table),
  remove: remove(table),
  due: (now, itemsMax, onUnreadable) =>
    dueRecords(table, { kind: 'mcp', now, itemsMax, onUnreadable }, serverFrom),
});

const counting = (TableName: string, project: ProjectId, step: number) => ({
  TableName,
  Key: keys.mcpServerCount(project),
  UpdateExpression: 'ADD servers :step',
  ExpressionAttributeValues: { ':step': step },
});

const add =
  (table: Table): McpServerStore['add'] =>
  async (server, { serversMax, dueAt }) => {
    const count = counting(table.name, server.project, 1);
    const TransactItems: Actions = [
      {
        Put: {
          TableName: table.name,
          Item: itemOf(server, dueAt),
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
      {
        Update: {
          ...count,
          ConditionExpression: 'attribute_not_exists(servers) OR servers < :max',
          ExpressionAttributeValues: { ...count.ExpressionAttributeValues, ':max': serversMax },
        },
      },
      featureUsed(table.name, 'mcpServers'),
      ifProjectNotDeleted(table.name, server.project),
    ];
    const result = await transact(table, new TransactWriteCommand({ TransactItems }));
    if (result === 'done') return 'added';
    if (isInDeletedProject(TransactItems, result)) return 'gone';
    return result[0]?.code === 'ConditionalCheckFailed' ? 'exists' : 'full';
  };

const get =
  ({ client, name: TableName }: Table): McpServerStore['get'] =>
  async (project, name) => {
    const { Item } = await client.send(
      new GetCommand({ TableName, Key: keys.mcpServer(project, name), ConsistentRead: true }),
    );
    return Item && serverFrom(Item);
  };

const list =
  (table: Table): McpServerStore['list'] =>
  async (project) =>
    (await prefixedItems(table, keys.mcpServer(project, ''))).map(serverFrom);

const replace =
  ({ client, name: TableName }: Table): McpServerStore['replace'] =>
  async (server, { version, dueAt }) => {
    const next = { ...server, version: version + 1 };
    const attempt = newAttempt();
    try {
      await client.send(
        new PutCommand({
          TableName,
          Item: { ...itemOf(next, dueAt), writtenBy: attempt },
          ConditionExpression: 'version = :version AND createdAt = :createdAt',
          ExpressionAttributeValues: { ':version': version, ':createdAt': server.createdAt },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return next;
    } catch (error) {
      return itemOfAttempt(error, attempt, ({ writtenBy }) => writtenBy) && next;
    }
  };

const remove =
  (table: Table): McpServerStore['remove'] =>
  async (project, name) => {
    const server = await get(table)(project, name);
    if (server === undefined) return undefined;
    const command = new TransactWriteCommand({
      TransactItems: [
        {
          Delete: {
            TableName: table.name,
            Key: keys.mcpServer(project, name),
            ConditionExpression: 'attribute_exists(pk)',
          },
        },
        { Update: counting(table.name, project, -1) },
      ],
    });
    return (await transact(table, command)) === 'done' ? server : undefined;
  };
