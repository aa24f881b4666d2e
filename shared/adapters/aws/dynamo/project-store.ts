/** `ProjectStore` on the one table. */
import { GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { projectRecord } from '#shared/contracts/stored-records.ts';
import { defaultProject } from '#shared/domain/principal.ts';
import { theDefaultProject } from '#shared/domain/project.ts';
import type { ProjectStore } from '#shared/ports/project-store.ts';
import { keys, type Table } from './table.ts';

const ownerPartition = (owner: string): string => `OWNER#${owner}#PROJECT`;

export const makeProjectStore = ({ client, name }: Table): ProjectStore => ({
  create: async (project) => {
    const { id, owner, createdAt } = project;
    const ownerSk = `${String(createdAt).padStart(13, '0')}#${id}`;
    const Item = { ...keys.project(id), ...project, ownerPk: ownerPartition(owner), ownerSk };
    await client.send(
      new PutCommand({ TableName: name, Item, ConditionExpression: 'attribute_not_exists(pk)' }),
    );
  },
  get: async (id) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: keys.project(id), ConsistentRead: true }),
    );
    if (Item !== undefined) return decodeStored(projectRecord, Item);
    return id === defaultProject ? theDefaultProject : undefined;
  },
  list: async (owner, { after, itemsMax }) => {
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
    const projects = Items.map((item) => decodeStored(projectRecord, item));
    return { projects, ...(next === undefined ? {} : { next: String(next) }) };
  },
});
