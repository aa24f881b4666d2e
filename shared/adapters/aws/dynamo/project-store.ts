/**
 * `ProjectStore` on the one table. A project that is being deleted retains its record, marked, until all that
 * belongs to it is deleted; then the mark alone stays for a while.
 */
import { GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { projectRecord } from '#shared/contracts/stored/project-records.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import { deletedProjectSecondsMax } from '#shared/domain/limits.ts';
import { defaultProject } from '#shared/domain/principal.ts';
import { type Project, type ProjectChange, theDefaultProject } from '#shared/domain/project.ts';
import type { MarkedProject, ProjectStore } from '#shared/ports/projects.ts';
import { type Item, isConditionFailed, keys, type Table } from './table.ts';

const ownerPartition = (owner: string): string => `OWNER#${owner}#PROJECT`;

/** The key of its owner's listing. */
const listed = ({ id, owner, createdAt }: Project) => ({
  ownerPk: ownerPartition(owner),
  ownerSk: `${String(createdAt).padStart(13, '0')}#${id}`,
});

/** The caller that marks a project looks for its sessions at once. */
const markStaleMs = 60_000;

const projectFrom = (item: Item): Project => decodeStored(projectRecord, item);

/** One whose deletion is not decided yet is still there: it may turn out to have an active session. */
const isGone = (item: Item): boolean =>
  item['deletedAt'] !== undefined && (item['isDecided'] === true || item['name'] === undefined);

const itemOf = async ({ client, name }: Table, id: ProjectId): Promise<Item | undefined> => {
  const Key = keys.project(id);
  const { Item } = await client.send(new GetCommand({ TableName: name, Key, ConsistentRead: true }));
  return Item;
};

const markedFrom = (item: Item): MarkedProject => ({
  project: projectFrom(item),
  deletedAt: Number(item['deletedAt']),
  isDecided: item['isDecided'] === true,
});

export const makeProjectStore = (table: Table): ProjectStore => ({
  create: async (project) => {
    const Item = { ...keys.project(project.id), ...project, ...listed(project) };
    await table.client.send(
      new PutCommand({
        TableName: table.name,
        Item,
        // The client library sends it again when an answer is lost.
        ConditionExpression: 'attribute_not_exists(pk) OR (createdAt = :createdAt AND #name = :name)',
        ExpressionAttributeNames: { '#name': 'name' },
        ExpressionAttributeValues: { ':createdAt': project.createdAt, ':name': project.name },
      }),
    );
  },
  get: async (id) => {
    const item = await itemOf(table, id);
    if (item !== undefined) return isGone(item) ? undefined : projectFrom(item);
    return id === defaultProject ? theDefaultProject : undefined;
  },
  isMarked: async (id) => {
    if (id === defaultProject) return false;
    const item = await itemOf(table, id);
    return item === undefined || item['deletedAt'] !== undefined;
  },
  change: change(table),
  markDeleted: async (id, at) => {
    const item = await update(table, id, {
      // A removed project has only its mark.
      when: 'attribute_exists(#name)',
      expression: 'SET deletedAt = if_not_exists(deletedAt, :at)',
      names: { '#name': 'name' },
      values: { ':at': at },
    });
    return item && markedFrom(item);
  },
  unmarkDeleted: async (id, at) => {
    await update(table, id, {
      when: 'attribute_exists(#name) AND attribute_not_exists(isDecided) AND (deletedAt = :at OR deletedAt < :stale)',
      expression: 'REMOVE deletedAt',
      names: { '#name': 'name' },
      values: { ':at': at, ':stale': at - markStaleMs },
    });
  },
  decideDeleted: async ({ project: { id }, deletedAt }) => {
    const item = await update(table, id, {
      when: 'attribute_exists(#name) AND deletedAt = :at',
      expression: 'SET isDecided = :true',
      names: { '#name': 'name' },
      values: { ':at': deletedAt, ':true': true },
    });
    return item !== undefined;
  },
  remove: async (id, at) => {
    const ttl = Math.ceil(at / 1000) + deletedProjectSecondsMax;
    const Item = { ...keys.project(id), deletedAt: at, ttl };
    const ConditionExpression = 'attribute_exists(deletedAt)';
    await table.client
      .send(new PutCommand({ TableName: table.name, Item, ConditionExpression }))
      .catch((error: unknown) => {
        if (!isConditionFailed(error)) throw error;
      });
  },
  list: list(table),
});

type ProjectUpdate = {
  readonly when: string;
  readonly expression: string;
  readonly names?: Readonly<Record<string, string>>;
  readonly values?: Readonly<Record<string, unknown>>;
};

/** The record after the change; undefined when the condition did not hold. */
const update = async (
  { client, name }: Table,
  id: Project['id'],
  { when, expression, names, values = {} }: ProjectUpdate,
): Promise<Item | undefined> => {
  // DynamoDB refuses an empty map of values: a change that only removes has none.
  const hasValues = Object.keys(values).length > 0;
  try {
    const { Attributes } = await client.send(
      new UpdateCommand({
        TableName: name,
        Key: keys.project(id),
        ConditionExpression: when,
        UpdateExpression: expression,
        ...(names === undefined ? {} : { ExpressionAttributeNames: { ...names } }),
        ...(hasValues ? { ExpressionAttributeValues: { ...values } } : {}),
        ReturnValues: 'ALL_NEW',
      }),
    );
    return Attributes;
  } catch (error) {
    if (isConditionFailed(error)) return undefined;
    throw error;
  }
};

const change =
  (table: Table): ProjectStore['change'] =>
  async (id, wanted, read = {}) => {
    const isDefault = id === defaultProject;
    const given = Object.entries(wanted satisfies ProjectChange).filter(([, value]) => value !== undefined);
    const put = given.filter(([, value]) => value !== null).map(([field]) => field);
    const removed = given.filter(([, value]) => value === null).map(([field]) => field);
    // The default project has no record until its first change.
    const first = { ...theDefaultProject, ...listed(theDefaultProject) };
    const initial = isDefault ? Object.entries(first).filter(([field]) => !put.includes(field)) : [];
    const sets = [
      ...put.map((field) => `#${field} = :${field}`),
      ...initial.map(([field]) => `#${field} = if_not_exists(#${field}, :${field})`),
    ];
    const expression = [
      sets.length === 0 ? '' : `SET ${sets.join(', ')}`,
      removed.length === 0 ? '' : `REMOVE ${removed.map((field) => `#${field}`).join(', ')}`,
    ];
    const values = Object.fromEntries([...given, ...initial].filter(([, value]) => value !== null));
    const wasRead = Object.entries(read);
    const fields = [...put, ...removed, ...[...initial, ...wasRead].map(([field]) => field)];
    const asRead = wasRead.map(([field, value]) =>
      value === undefined ? `attribute_not_exists(#${field})` : `#${field} = :read_${field}`,
    );
    const exists = isDefault
      ? 'attribute_not_exists(deletedAt)'
      : 'attribute_exists(pk) AND attribute_not_exists(deletedAt)';
    const item = await update(table, id, {
      when: [exists, ...asRead].join(' AND '),
      expression: expression.join(' ').trim(),
      names: Object.fromEntries(fields.map((field) => [`#${field}`, field])),
      values: Object.fromEntries([
        ...Object.entries(values).map(([field, value]) => [`:${field}`, value]),
        ...wasRead
          .filter(([, value]) => value !== undefined)
          .map(([field, value]) => [`:read_${field}`, value]),
      ]),
    });
    return item && projectFrom(item);
  };

const list =
  ({ client, name }: Table): ProjectStore['list'] =>
  async (owner, { after, itemsMax }) => {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: name,
        IndexName: 'owner',
        KeyConditionExpression: after === undefined ? 'ownerPk = :pk' : 'ownerPk = :pk AND ownerSk < :after',
        ExpressionAttributeValues: {
          ':pk': ownerPartition(owner),
          ...(after === undefined ? {} : { ':after': after }),
        },
        ScanIndexForward: false,
        Limit: itemsMax,
      }),
    );
    const next = LastEvaluatedKey?.['ownerSk'];
    const projects = Items.filter((item) => !isGone(item)).map(projectFrom);
    return { projects, ...(next === undefined ? {} : { next: String(next) }) };
  };
