/**
 * The authorisations of DynamoDB calls. A transaction and a batch are authorised as the actions in them, a query by the
 * table or index that it reads (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html).
 */
import { type Authorisation, type AuthorisationsOf, arn, jsonOf } from './authorisation.ts';

type Attribute = { readonly S?: string };
type Item = Readonly<Record<string, Attribute>>;
type Single = {
  readonly TableName: string;
  readonly IndexName?: string;
  readonly Key?: Item;
  readonly Item?: Item;
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeValues?: Item;
};
type Transaction = { readonly TransactItems: readonly Readonly<Record<string, Single>>[] };
type Batch = {
  readonly RequestItems: Readonly<
    Record<
      string,
      { readonly Keys: readonly Item[] } | readonly Readonly<Record<string, { Key?: Item; Item?: Item }>>[]
    >
  >;
};

const transactionActions: Readonly<Record<string, string>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
  Get: 'GetItem',
};

export const ofDynamoDb: AuthorisationsOf = ({ operation, body }) => {
  const input = jsonOf(body);
  if ('TransactItems' in input)
    return (input as Transaction).TransactItems.flatMap((entry) =>
      Object.entries(entry).map(([kind, single]) => onOne(transactionActions[kind] ?? kind, single)),
    );
  if ('RequestItems' in input)
    return Object.entries((input as Batch).RequestItems).map(([TableName, requests]) =>
      on(operation, TableName, 'Keys' in requests ? requests.Keys.map(keyOf) : requests.map(keyOfWrite)),
    );
  return [onOne(operation, input as Single)];
};

const onOne = (action: string, single: Single): Authorisation => {
  const { TableName, IndexName } = single;
  const name = IndexName === undefined ? TableName : `${TableName}/index/${IndexName}`;
  return on(action, name, [
    single.KeyConditionExpression === undefined ? keyOf(single.Key ?? single.Item) : queriedKey(single),
  ]);
};

const on = (action: string, name: string, leadingKeys: readonly string[]): Authorisation => ({
  action: `dynamodb:${action}`,
  resource: arn('dynamodb', `table/${name}`),
  context: { 'dynamodb:LeadingKeys': leadingKeys },
});

const keyOf = (item: Item = {}): string => item['pk']?.S ?? '';

const keyOfWrite = (write: Readonly<Record<string, { Key?: Item; Item?: Item }>>): string => {
  const [request] = Object.values(write);
  return keyOf(request?.Key ?? request?.Item);
};

/** The first equality of a key condition is the partition key's. */
const queriedKey = ({ KeyConditionExpression = '', ExpressionAttributeValues = {} }: Single): string => {
  const [, value = ''] = /= *(:\w+)/.exec(KeyConditionExpression) ?? [];
  return ExpressionAttributeValues[value]?.S ?? '';
};
