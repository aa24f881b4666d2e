import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { environments, type FunctionName } from '#shared/config/environment.ts';
import { named, type Resource, synthesise } from '../stacks/synthesise.ts';
import { inRepository } from './repository-path.ts';

const { compute } = synthesise();

type Statement = {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: { readonly 'ForAllValues:StringLike'?: { readonly 'dynamodb:LeadingKeys': unknown } };
};
const onTable = (name: FunctionName): readonly Statement[] => {
  const policy: Resource = named(compute, 'AWS::IAM::Policy', `Functions${name.replaceAll('-', '')}Role`);
  const statements: readonly Statement[] = policy.Properties.PolicyDocument.Statement;
  return statements.filter(({ Action }) => [Action].flat().some((action) => action.startsWith('dynamodb:')));
};
const keysOf = ({ Condition }: Statement): readonly string[] =>
  [Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? []].flat() as string[];
const reach = (name: FunctionName, action: string): readonly string[] => {
  const keys = onTable(name).flatMap((statement) =>
    [statement.Action].flat().includes(`dynamodb:${action}`) ? keysOf(statement) : [],
  );
  return [...new Set(keys.map((key) => key.replace('#*', '')))].sort();
};

const work = [
  'APPROVERS',
  'CONNECTION',
  'DEPLOYMENT',
  'HISTORY',
  'PROJECT',
  'SESSION',
  'SLOTS',
  'WAITING',
  'WORKSPACE',
];

describe('the table is written', () => {
  const [notice, webhook] = ['NOTICE', 'NOTIFY'];
  test.each<
    [
      FunctionName,
      readonly string[],
      { readonly puts?: readonly string[]; readonly updates?: readonly string[] }?,
    ]
  >([
    ['authorizer', [], { updates: ['TICKET'] }],
    ['on-connected', [], { updates: ['SESSION'] }],
    ['sandbox-link', []],
    ['turn', ['AUDIT', ...work], { puts: [notice] }],
    ['task-events', work, { puts: [notice] }],
    ['janitor', ['AUDIT', ...work, 'SCHEDULE'], { puts: [notice], updates: [webhook] }],
    ['socket', ['AUDIT', ...work, 'RATE'], { puts: [notice] }],
    ['schedules', ['AUDIT', ...work, 'SCHEDULE'], { puts: [notice] }],
    ['webhooks', ['AUDIT', notice, webhook, 'WEBHOOK']],
    [
      'api',
      [
        'AUDIT',
        'LINK',
        ...work,
        webhook,
        'OAUTH',
        'PREVIEW',
        'RATE',
        'SCHEDULE',
        'TICKET',
        'TOKEN',
        'TOKENID',
      ],
      { puts: [notice, 'WEBHOOKSECRET'], updates: ['WEBHOOK'] },
    ],
    ['mcp', ['AUDIT', 'CALL', ...work, 'OAUTH', 'RATE', 'SCHEDULE', 'TOKEN', 'TOKENID'], { puts: [notice] }],
  ])('by %s where its work lies', (name, partitions, { puts = [], updates = [] } = {}) => {
    expect(reach(name, 'PutItem')).toEqual([...partitions, ...puts].sort());
    const changed = partitions.filter((partition) => partition !== 'AUDIT');
    expect(reach(name, 'UpdateItem')).toEqual([...changed, ...updates].sort());
  });

  test('in the audit log only to append', () => {
    const names = ['turn', 'janitor', 'socket', 'schedules', 'webhooks', 'api', 'mcp'] as const;
    for (const name of names)
      for (const action of ['UpdateItem', 'DeleteItem', 'BatchWriteItem'])
        expect(reach(name, action)).not.toContain('AUDIT');
  });

  test('by functions that process model output only away from credentials', () => {
    for (const name of ['turn', 'sandbox-link', 'task-events', 'schedules'] as const)
      for (const action of ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'])
        expect(reach(name, action).filter((key) => /TOKEN|TICKET|PREVIEW|LINK|OAUTH/.test(key))).toEqual([]);
  });

  test('by the janitor so that it can delete, but not create, tokens of deleted projects', () => {
    expect(reach('janitor', 'DeleteItem')).toEqual(expect.arrayContaining(['TOKEN', 'TOKENID']));
    for (const action of ['PutItem', 'UpdateItem', 'BatchWriteItem'])
      expect(reach('janitor', action).filter((key) => /TOKEN|TICKET|PREVIEW|LINK|OAUTH/.test(key))).toEqual(
        [],
      );
  });
});

describe('the table is read', () => {
  test.each<[FunctionName, readonly string[]]>([
    ['authorizer', ['TOKEN']],
    ['on-connected', [...work, 'TOKEN']],
    ['turn', work],
    ['socket', [...work, 'RATE', 'TOKEN']],
  ])('by %s where it must look', (name, partitions) => {
    expect(reach(name, 'GetItem')).toEqual([...partitions].sort());
  });

  test('by the socket in one request for a session and the caller’s token', () => {
    const both = onTable('socket').filter((statement) => {
      const keys = keysOf(statement);
      return keys.includes('SESSION#*') && keys.includes('TOKEN#*');
    });
    expect(both.map(({ Action }) => Action)).toEqual([
      ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query'],
      // A browser's connection is stored on the condition that its sign-in is there.
      'dynamodb:ConditionCheckItem',
    ]);
  });
});

test('a webhook’s secret is read by the sender only (WH6)', () => {
  const readers = (Object.keys(environments) as FunctionName[]).filter((name) =>
    ['BatchGetItem', 'GetItem', 'Query'].some((action) => reach(name, action).includes('WEBHOOKSECRET')),
  );
  expect(readers).toEqual(['webhooks']);
});

test('no permission on the table or an index lacks leading keys', () => {
  for (const name of Object.keys(environments) as FunctionName[])
    for (const statement of onTable(name)) expect([name, keysOf(statement)]).not.toEqual([name, []]);
});

test('an index is queried only for its own partitions', () => {
  const indexed = (name: FunctionName) =>
    onTable(name).filter(({ Resource }) => JSON.stringify(Resource).includes('/index/'));
  const asked = (['janitor', 'schedules', 'api', 'mcp'] as const).map((name) =>
    indexed(name).map((statement) => [
      /index\/(\w+)/.exec(JSON.stringify(statement))?.[1],
      keysOf(statement),
    ]),
  );
  expect(asked).toEqual([
    [
      ['due', ['DUE#*']],
      ['owner', ['OWNER#*']],
    ],
    [['due', ['DUE#*']]],
    [['owner', ['OWNER#*']]],
    [['owner', ['OWNER#*']]],
  ]);
});

test('every partition that the stores write is covered by permissions', () => {
  const source = readFileSync(inRepository('shared/adapters/aws/dynamo/table.ts'), 'utf8');
  const prefix = (name: string): string => new RegExp(`\\n  ${name}: '(.+)',`).exec(source)?.[1] ?? '';
  const stores = source.replaceAll(/\$\{prefixes\.(\w+)\}/g, (_, name: string) => prefix(name));
  const needs = readFileSync(inRepository('infra/constructs/table-permissions.ts'), 'utf8');
  const written = new Set([...stores.matchAll(/pk: `([A-Z]+)#/g)].map(([, start]) => start));
  const known = new Set([...needs.matchAll(/'([A-Z]+)#\*'/g)].map(([, start]) => start));
  expect(written.size).toBeGreaterThan(10);
  expect([...written].sort()).toEqual([...known].sort());
});
