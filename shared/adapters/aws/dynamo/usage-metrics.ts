/** `MetricsStore` on the one table: an item per scope and point, whose numbers are incremented in place. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { usageCountsRecord } from '#shared/contracts/stored/deployment-records.ts';
import {
  type MetricsScope,
  type UsageMeasurement,
  usagePointMs,
  usagePointStart,
  usageSecondsMax,
} from '#shared/domain/usage-metrics.ts';
import type { MetricsStore } from '#shared/ports/telemetry.ts';
import { queryAll } from './query-pages.ts';
import { keys, type Table } from './table.ts';

export const makeMetricsStore = (table: Table): MetricsStore => ({
  add: async (notes, at) => {
    const scopes = new Map<MetricsScope, UsageMeasurement[]>([['deployment', [...notes]]]);
    for (const note of notes) {
      if (note.project === undefined) continue;
      scopes.set(note.project, [...(scopes.get(note.project) ?? []), note]);
    }
    await Promise.all([...scopes].map(([scope, its]) => addTo(table, { scope, notes: its, at })));
  },
  read: async (scope, { from, to }) => {
    const items = await queryAll(table, {
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: {
        ':pk': keys.usagePoint(scope, 0).pk,
        ':from': keys.usagePoint(scope, usagePointStart(from)).sk,
        ':to': keys.usagePoint(scope, usagePointStart(to)).sk,
      },
    });
    return items.map(({ pk: _, sk: __, ...item }) => {
      const { at, ttl: ___, ...counts } = decodeStored(usageCountsRecord, item);
      return { at, counts };
    });
  },
});

type Addition = {
  readonly scope: MetricsScope;
  readonly notes: readonly UsageMeasurement[];
  readonly at: number;
};

const addTo = async ({ client, name }: Table, { scope, notes, at }: Addition): Promise<void> => {
  const point = usagePointStart(at);
  const values = new Map<string, { readonly isLevel: boolean; value: number }>();
  for (const note of notes) {
    if ('set' in note) values.set(note.set, { isLevel: true, value: note.to });
    else values.set(note.add, { isLevel: false, value: (values.get(note.add)?.value ?? 0) + 1 });
  }
  for (const portion of portionsOf([...values])) await update({ client, name }, { scope, point, portion });
};

type Portion = readonly (readonly [
  attribute: string,
  { readonly isLevel: boolean; readonly value: number },
])[];

/** An expression has at most 4 KB: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html */
const attributesMax = 100;

const portionsOf = (values: Portion): readonly Portion[] =>
  Array.from({ length: Math.ceil(values.length / attributesMax) }, (_, index) =>
    values.slice(index * attributesMax, (index + 1) * attributesMax),
  );

type PointChange = { readonly scope: MetricsScope; readonly point: number; readonly portion: Portion };

const update = async (
  { client, name }: Pick<Table, 'client' | 'name'>,
  change: PointChange,
): Promise<void> => {
  const { scope, point, portion } = change;
  const all = portion.map(([attribute, { isLevel, value }], index) => ({ attribute, isLevel, value, index }));
  const sets = ['#ttl = :ttl', '#at = :at'];
  for (const { isLevel, index } of all) if (isLevel) sets.push(`#n${index} = :n${index}`);
  const adds = all.filter(({ isLevel }) => !isLevel).map(({ index }) => `#n${index} :n${index}`);
  await client.send(
    new UpdateCommand({
      TableName: name,
      Key: keys.usagePoint(scope, point),
      UpdateExpression: `SET ${sets.join(', ')}${adds.length === 0 ? '' : ` ADD ${adds.join(', ')}`}`,
      ExpressionAttributeNames: {
        '#ttl': 'ttl',
        '#at': 'at',
        ...Object.fromEntries(all.map(({ attribute, index }) => [`#n${index}`, attribute])),
      },
      ExpressionAttributeValues: {
        ':ttl': Math.ceil((point + usagePointMs) / 1000) + usageSecondsMax,
        ':at': point,
        ...Object.fromEntries(all.map(({ value, index }) => [`:n${index}`, value])),
      },
    }),
  );
};
