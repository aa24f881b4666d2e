/** Faults of a statement, on a reference of two services. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the reference writes placeholders so
import { expect, test } from 'vitest';
import { faultsOfStatement, type Reference, type Service } from './authorization-reference.ts';

const services: Readonly<Record<string, Service>> = {
  ecs: {
    actions: [
      {
        name: 'RunTask',
        conditionKeys: ['ecs:cluster', 'aws:RequestTag/${TagKey}'],
        resourceTypes: [{ name: 'task-definition', conditionKeys: [] }],
      },
    ],
    resourceTypes: {
      'task-definition': {
        arn: 'arn:${Partition}:ecs:${Region}:${Account}:task-definition/${Family}:${Revision}',
        conditionKeys: ['aws:ResourceTag/${TagKey}'],
      },
    },
  },
  s3: {
    actions: ['GetObject', 'PutObject', 'ListBucket', 'ListAllMyBuckets'].map((name) => ({
      name,
      conditionKeys: name === 'ListBucket' ? ['s3:prefix'] : [],
      resourceTypes: name.endsWith('Object')
        ? [{ name: 'object', conditionKeys: [] }]
        : name === 'ListBucket'
          ? [{ name: 'bucket', conditionKeys: [] }]
          : [],
    })),
    resourceTypes: {
      bucket: { arn: 'arn:${Partition}:s3:::${BucketName}' },
      object: { arn: 'arn:${Partition}:s3:::${BucketName}/${ObjectName}' },
    },
  },
};
const reference: Reference = {
  service: (prefix) => services[prefix],
  globalKeys: ['aws:SourceArn', 'aws:PrincipalTag/tag-key'],
};
const faults = (statement: object) =>
  faultsOfStatement({ Effect: 'Allow', Action: [], ...statement }, reference);

const definition = 'arn:aws:ecs:eu-central-1:1:task-definition/sallyport-python:*';

test('a statement whose action, keys and resource fit has no fault', () => {
  const Condition = {
    ArnEquals: { 'ecs:cluster': 'c', 'AWS:SourceArn': 'x' },
    Null: { 'aws:PrincipalTag/team': 'true' },
  };
  expect(faults({ Action: 'ecs:RunTask', Resource: definition, Condition })).toEqual([]);
  expect(faults({ Action: ['s3:GetObject', 's3:Put*'], Resource: 'arn:aws:s3:::bucket/of/*' })).toEqual([]);
  expect(faults({ Action: 's3:*', Resource: '*' })).toEqual([]);
});

test('an action that does not exist, also by a wildcard, is one', () => {
  expect(faults({ Action: 'ecs:StartAll', Resource: '*' })).toEqual(['there is no action ecs:StartAll']);
  expect(faults({ Action: ['sqs:SendMessage', 's3:Move*'], Resource: '*' })).toEqual([
    'there is no action sqs:SendMessage',
    'there is no action s3:Move*',
  ]);
});

test('a condition key that its action does not have is one', () => {
  const Condition = { 'ForAllValues:StringEquals': { 'ecs:subnet': ['a'] } };
  expect(faults({ Action: 'ecs:RunTask', Resource: definition, Condition })).toEqual([
    'ecs:RunTask has no condition key ecs:subnet',
  ]);
});

test('a resource of another kind is one, and so is an action that takes no resource at all', () => {
  expect(faults({ Action: 's3:GetObject', Resource: 'arn:aws:s3:::bucket' })).toEqual([
    'none of its actions takes arn:aws:s3:::bucket',
    's3:GetObject takes none of arn:aws:s3:::bucket',
  ]);
  expect(faults({ Action: 's3:ListBucket', Resource: 'arn:aws:s3:::bucket/*' })).toHaveLength(2);
  expect(
    faults({ Action: ['s3:GetObject', 's3:ListAllMyBuckets'], Resource: 'arn:aws:s3:::bucket/*' }),
  ).toEqual(['s3:ListAllMyBuckets takes none of arn:aws:s3:::bucket/*']);
});
