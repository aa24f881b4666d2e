/** A query of the table, page by page: the next page is read when it is asked for. */
import { QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Item, Table } from './table.ts';

type Query = Omit<QueryCommandInput, 'TableName' | 'ExclusiveStartKey'>;

export async function* queryPages(
  { client, name: TableName }: Table,
  query: Query,
): AsyncGenerator<readonly Item[]> {
  let start: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName,
        ...query,
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      }),
    );
    yield Items;
    start = LastEvaluatedKey;
  } while (start !== undefined);
}

export const queryAll = async (table: Table, query: Query): Promise<readonly Item[]> =>
  (await Array.fromAsync(queryPages(table, query))).flat();
