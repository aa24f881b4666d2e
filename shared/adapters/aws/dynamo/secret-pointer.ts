/**
 * The pointer to a project's sealed secrets: the current bundle, the names in it, and the hold of its writer.
 *
 * A bundle is current because this item names it, and the item changes under a condition: a writer that lost its
 * hold commits nothing. `litter` names every bundle that may exist without being current, from before it is made
 * until after it is deleted, so that the next writer can clean up after one that died.
 */
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { decodeStored } from '#shared/contracts/decode.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import { isConditionFailed, itemOfFailure, keys, namesIn, type Table } from './table.ts';

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
export type Hold = { readonly project: ProjectId; readonly draft: string };

export type SecretPointers = ReturnType<typeof makeSecretPointers>;

export const makeSecretPointers = (table: Table) => ({
  read: async (project: ProjectId): Promise<SecretPointer> => {
    const { client, name: TableName } = table;
    const { Item = {} } = await client.send(
      new GetCommand({ TableName, Key: keys.secrets(project), ConsistentRead: true }),
    );
    return decodeStored(pointerRecord, Item);
  },
  take: take(table),
  commit: commit(table),
  release: release(table),
  cleared: cleared(table),
});

/** Undefined while another writer holds it. Repeated under one draft, as the SDK may do, it is acquired once. */
const take =
  ({ client, name }: Table) =>
  async (
    { project, draft }: Hold,
    { at, until }: { readonly at: number; readonly until: number },
  ): Promise<SecretPointer | undefined> => {
    try {
      const { Attributes } = await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.secrets(project),
          ConditionExpression: 'attribute_not_exists(draft) OR heldUntil < :at OR draft = :draft',
          UpdateExpression: 'SET draft = :draft, heldUntil = :until ADD litter :litter',
          ExpressionAttributeValues: {
            ':at': at,
            ':until': until,
            ':draft': draft,
            ':litter': new Set([draft]),
          },
          ReturnValues: 'ALL_NEW',
        }),
      );
      return decodeStored(pointerRecord, Attributes);
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
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
