/**
 * Listings of a project: pointers in its partition, one beside each session and each named workspace. A page is
 * one query, and one batch of reads for the items they point to; a pointer to a deleted item is skipped.
 */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { ProjectId } from '#shared/domain/ids.ts';
import { batchGet } from './batch.ts';
import { type Item, keys, type Table } from './table.ts';

type Kind = 'SESSION' | 'WORKSPACE';
type Page = { readonly after?: string; readonly itemsMax: number };
type Key = { readonly pk: string; readonly sk: string };

export const pageOfProject = async (
  table: Table,
  { project, kind, keyOf }: { readonly project: ProjectId; readonly kind: Kind; keyOf: (id: string) => Key },
  { after, itemsMax }: Page,
): Promise<{ readonly items: readonly Item[]; readonly next?: string }> => {
  const isNewestFirst = kind === 'SESSION';
  const { pk } = keys.project(project);
  const start = `${kind}#${after ?? ''}`;
  const { Items = [], LastEvaluatedKey } = await table.client.send(
    new QueryCommand({
      TableName: table.name,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :kind)',
      ExpressionAttributeValues: { ':pk': pk, ':kind': `${kind}#` },
      ConsistentRead: true,
      ScanIndexForward: !isNewestFirst,
      Limit: itemsMax,
      ...(after === undefined ? {} : { ExclusiveStartKey: { pk, sk: start } }),
    }),
  );
  const wanted = Items.map(({ sk }) => keyOf(String(sk).split('#')[2] ?? ''));
  const found = new Map<string, Item>();
  for (const item of await batchGet(table, wanted)) found.set(String(item['pk']), item);
  const items = wanted.map((key) => found.get(key.pk)).filter((item) => item !== undefined);
  const last = LastEvaluatedKey?.['sk'];
  return { items, ...(last === undefined ? {} : { next: String(last).slice(kind.length + 1) }) };
};
