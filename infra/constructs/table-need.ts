/** What functions may do with the table: items by key, one index by name, and never a scan. */
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { all, may, type Need } from './need.ts';

type TableVariables = { readonly TABLE_NAME: string };

const itemActions = [
  'dynamodb:BatchGetItem',
  'dynamodb:ConditionCheckItem',
  'dynamodb:DeleteItem',
  'dynamodb:GetItem',
  'dynamodb:PutItem',
  'dynamodb:Query',
  'dynamodb:UpdateItem',
];
const readActions = ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query'];

const using = ({ tableName, tableArn }: ITableV2, actions: string[]): Need<TableVariables> => ({
  variables: { TABLE_NAME: tableName },
  statements: [{ actions, resources: [tableArn] }],
});

/** To read and to write items. A transaction is authorised as the writes it is made of. */
export const workingOn = (table: ITableV2): Need<TableVariables> => using(table, itemActions);

export const readingFrom = (table: ITableV2): Need<TableVariables> => using(table, readActions);

/** To delete what is left of something, many items at once. */
export const deletingMany = (table: ITableV2): Need<object> =>
  may({ actions: ['dynamodb:BatchWriteItem'], resources: [table.tableArn] });

/** As `workingOn`, and to query one index. */
export const workingOnIndexed = (table: ITableV2, index: 'due' | 'owner'): Need<TableVariables> =>
  all(
    workingOn(table),
    may({ actions: ['dynamodb:Query'], resources: [`${table.tableArn}/index/${index}`] }),
  );

/** To tell who asks: a ticket is deleted, a token is read, each by a key that starts so. */
export const checkingCredentials = ({ tableName, tableArn }: ITableV2): Need<TableVariables> => ({
  variables: { TABLE_NAME: tableName },
  statements: [
    {
      actions: ['dynamodb:DeleteItem'],
      resources: [tableArn],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['TICKET#*'] } },
    },
    {
      actions: ['dynamodb:GetItem'],
      resources: [tableArn],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['TOKEN#*'] } },
    },
  ],
});
