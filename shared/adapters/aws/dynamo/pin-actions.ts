/**
 * Pins as parts of a transaction: made with their holder under the condition that their objects are still needed by
 * something that exists, and ended with it (SN2). Each change of a set of pins changes its version.
 */
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { type Pin, type PinHolder, sourcesOf, workspaceHolder } from '#shared/domain/pins.ts';
import type { FilesSource } from '#shared/domain/snapshot.ts';
import { dueValues, keys } from './table.ts';
import { type Change, workspaceUpdate } from './workspace-changes.ts';

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;

/** The version of the set that this change leaves, with its time. */
export const newVersionAction = (
  TableName: string,
  owner: WorkspaceId,
  { holder, at }: { readonly holder: PinHolder; readonly at: number },
): Actions[number] => ({
  Update: {
    TableName,
    Key: keys.pins(owner),
    UpdateExpression: 'SET version = :version, changedAt = :at',
    ExpressionAttributeValues: { ':version': `${holder}@${at}`, ':at': at },
  },
});

/** A pin of the same holder that has ended is needed again, with its earlier objects. */
export const pinActions = (TableName: string, pins: readonly Pin[], at: number): Actions =>
  pins.flatMap(({ owner, holder, objects }) => [
    {
      Update: {
        TableName,
        Key: keys.pin(owner, holder),
        UpdateExpression:
          'SET #owner = :owner, holder = :holder ADD objects :objects REMOVE releasedAt, duePk, dueAt',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: { ':owner': owner, ':holder': holder, ':objects': new Set(objects) },
      },
    },
    newVersionAction(TableName, owner, { holder, at }),
  ]);

type Held = Pick<Pin, 'owner' | 'holder'>;

export const releaseActions = (TableName: string, pins: readonly Held[], at: number): Actions =>
  pins.map(({ owner, holder }) => ({
    Update: {
      TableName,
      Key: keys.pin(owner, holder),
      ConditionExpression: 'attribute_exists(pk)',
      UpdateExpression: 'SET releasedAt = :at, duePk = :duePk, dueAt = :dueAt',
      ExpressionAttributeValues: { ':at': at, ...dueValues('pin', owner, at) },
    },
  }));

type Release = Omit<Change, 'set'> & {
  /** A portion: at most `sourcesReleasedMax`. */
  readonly sources: readonly WorkspaceId[];
  readonly at: number;
  readonly set?: string;
};

/** The pins of a workspace on these others end, and its record no longer names them. */
export const sourcesReleased = (
  TableName: string,
  id: WorkspaceId,
  { sources, at, set = '', values, ...rest }: Release,
): Actions => [
  workspaceUpdate(TableName, id, {
    ...rest,
    set: `${set} DELETE sources :sources`.trim(),
    values: { ...values, ':sources': new Set(sources) },
  }),
  ...releaseActions(
    TableName,
    sources.map((owner) => ({ owner, holder: workspaceHolder(id) })),
    at,
  ),
];

/** The files of a source are those that were read, and it is not being deleted. */
export const sourceActions = (TableName: string, { of, checkpoint }: FilesSource): Actions => {
  if (of.kind === 'snapshot') return [exists(TableName, keys.snapshot(of.project, of.id))];
  const isOwn = checkpoint !== undefined && !isOnlyOfOthers(of.id, checkpoint);
  const when = `attribute_not_exists(deletedAt) AND ${
    of.last === undefined ? 'attribute_not_exists(#checkpoint)' : '#checkpoint.id = :checkpoint'
  }`;
  const values = of.last === undefined ? {} : { ':checkpoint': of.last };
  if (isOwn)
    return [
      workspaceUpdate(TableName, of.id, {
        when,
        set: 'SET isPinned = :true',
        values: { ...values, ':true': true },
      }),
    ];
  return [
    {
      ConditionCheck: {
        TableName,
        Key: keys.workspace(of.id),
        ConditionExpression: `attribute_exists(pk) AND ${when}`,
        ExpressionAttributeNames: { '#checkpoint': 'checkpoint' },
        ...(of.last === undefined ? {} : { ExpressionAttributeValues: values }),
      },
    },
  ];
};

const isOnlyOfOthers = (id: WorkspaceId, checkpoint: NonNullable<FilesSource['checkpoint']>): boolean =>
  checkpoint.workspace !== id && !sourcesOf(checkpoint.workspace ?? id, checkpoint).includes(id);

const exists = (TableName: string, Key: { readonly pk: string; readonly sk: string }): Actions[number] => ({
  ConditionCheck: { TableName, Key, ConditionExpression: 'attribute_exists(pk)' },
});
