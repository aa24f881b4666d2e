/**
 * The pointer to a project's sealed secrets: the current bundle, the names in it, and the hold of its writer.
 *
 * A bundle is current because this item names it, and the item changes under a condition: a writer that lost its
 * hold commits nothing. `litter` names every bundle that may exist without being current, from before it is made
 * until after it is deleted, so that the next writer can clean up after one that died.
 */
import { GetCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { decodeStored } from '#shared/contracts/decode.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import { ifProjectNotDeleted, isInDeletedProject } from './project-not-deleted.ts';
import { type Item, isConditionFailed, itemOfFailure, keys, namesIn, type Table } from './table.ts';
import { transact } from './transaction.ts';

const pointerRecord = z.object({
  /** Absent: the project has no secrets. */
  current: z.string().optional(),
  names: z.array(z.string()).default([]),
  litter: z.set(z.string()).default(() => new Set<string>()),
});

export type SecretPointer = Readonly<z.output<typeof pointerRecord>>;
export type CommittedSecrets = {
  readonly current: string | undefined;
  readonly names: readonly string[];
  readonly litter: ReadonlySet<string>;
};

/** `draft`: the bundle that a holder means to make; no other writer has its name. */
export type Hold = {
  readonly project: ProjectId;
  readonly draft: string;
  /** It makes nothing: also in a project that is being deleted. */
  readonly isClearing: boolean;
};

export type SecretPointers = ReturnType<typeof makeSecretPointers>;

export const makeSecretPointers = (table: Table) => ({
  read: read(table),
  take: take(table),
  commit: commit(table),
  release: release(table),
  cleared: cleared(table),
});

const itemOf = async ({ client, name: TableName }: Table, project: ProjectId): Promise<Item> => {
  const Key = keys.secrets(project);
  const { Item = {} } = await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
  return Item;
};

const read =
  (table: Table) =>
  async (project: ProjectId): Promise<SecretPointer> =>
    decodeStored(pointerRecord, await itemOf(table, project));

/**
 * Undefined while another writer holds it, `gone` where the project is deleted: its deletion waits for holds, and clears what they
 * made. Repeated under one draft, as the SDK may do, it is acquired once.
 */
const take =
  (table: Table) =>
  async (
    { project, draft, isClearing }: Hold,
    { at, until }: { readonly at: number; readonly until: number },
  ): Promise<SecretPointer | 'gone' | undefined> => {
    const { name: TableName } = table;
    const { draft: holder, heldUntil } = await itemOf(table, project);
    // A transaction of each writer that waits would conflict with the write of the one that it waits for.
    if (holder !== undefined && holder !== draft && Number(heldUntil) >= at) return undefined;
    const hold = {
      TableName,
      Key: keys.secrets(project),
      ConditionExpression: 'attribute_not_exists(draft) OR heldUntil < :at OR draft = :draft',
      UpdateExpression: 'SET draft = :draft, heldUntil = :until ADD litter :litter',
      ExpressionAttributeValues: { ':at': at, ':until': until, ':draft': draft, ':litter': new Set([draft]) },
    };
    const actions = [...(isClearing ? [] : [ifProjectNotDeleted(TableName, project)]), { Update: hold }];
    const result = await transact(table, new TransactWriteCommand({ TransactItems: actions }));
    if (result === 'done') return read(table)(project);
    return isInDeletedProject(actions, result) ? 'gone' : undefined;
  };

/** False when the hold was lost. A commit whose acknowledgement was lost is recognised by `decidedBy`. */
const commit =
  ({ client, name: TableName }: Table) =>
  async ({ project, draft }: Hold, { current, names, litter }: CommittedSecrets): Promise<boolean> => {
    const optional = [
      { name: '#current', value: ':current', isSet: current !== undefined },
      { name: '#litter', value: ':litter', isSet: litter.size > 0 },
    ];
    const set = optional.flatMap(({ name, value, isSet }) => (isSet ? [`, ${name} = ${value}`] : []));
    const removed = optional.flatMap(({ name, isSet }) => (isSet ? [] : [`, ${name}`]));
    const UpdateExpression = `SET #names = :names, decidedBy = :draft${set.join('')} REMOVE draft, heldUntil${removed.join('')}`;
    try {
      await client.send(
        new UpdateCommand({
          TableName,
          Key: keys.secrets(project),
          ConditionExpression: 'draft = :draft',
          UpdateExpression,
          ExpressionAttributeNames: namesIn(UpdateExpression),
          ExpressionAttributeValues: {
            ':draft': draft,
            ':names': names,
            ...(current === undefined ? {} : { ':current': current }),
            ...(litter.size === 0 ? {} : { ':litter': litter }),
          },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return true;
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
      return itemOfFailure(error)?.['decidedBy'] === draft;
    }
  };

/** Releases without a change; a bundle that was made stays litter. */
const release =
  ({ client, name }: Table) =>
  async ({ project, draft }: Hold): Promise<void> => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.secrets(project),
          ConditionExpression: 'draft = :draft',
          UpdateExpression: 'REMOVE draft, heldUntil',
          ExpressionAttributeValues: { ':draft': draft },
        }),
      );
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
    }
  };

/** Records that these bundles are deleted. */
const cleared =
  ({ client, name }: Table) =>
  async (project: ProjectId, bundles: ReadonlySet<string>): Promise<void> => {
    await client.send(
      new UpdateCommand({
        TableName: name,
        Key: keys.secrets(project),
        UpdateExpression: 'DELETE litter :bundles',
        ExpressionAttributeValues: { ':bundles': bundles },
      }),
    );
  };
