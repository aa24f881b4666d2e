import { describe, expect, test } from 'vitest';
import { isAllowed, type Statement } from './policy-evaluation.ts';

const allow = (over: Partial<Statement> = {}): Statement => ({
  Effect: 'Allow',
  Action: 's3:GetObject',
  Resource: 'arn:aws:s3:::bucket/workspaces/*',
  ...over,
});
const asked = (over: { action?: string; resource?: string; context?: Record<string, string[]> } = {}) => ({
  action: 's3:GetObject',
  resource: 'arn:aws:s3:::bucket/workspaces/a/b',
  context: {},
  ...over,
});

describe('a request', () => {
  test('is allowed by a statement that names its action and its resource', () => {
    expect(isAllowed([allow()], asked())).toBe(true);
    expect(isAllowed([allow({ Action: ['s3:PutObject', 's3:Get*'] })], asked())).toBe(true);
    expect(isAllowed([allow({ Action: 'S3:getobject' })], asked())).toBe(true);
  });

  test('is denied if no statement allows it', () => {
    expect(isAllowed([], asked())).toBe(false);
    expect(isAllowed([allow()], asked({ action: 's3:PutObject' }))).toBe(false);
    expect(isAllowed([allow()], asked({ resource: 'arn:aws:s3:::bucket/shared/a' }))).toBe(false);
    expect(isAllowed([allow({ Resource: 'arn:aws:s3:::bucket' })], asked())).toBe(false);
  });

  test('is denied if one statement denies it, whatever the others allow', () => {
    expect(isAllowed([allow(), allow({ Effect: 'Deny', Action: '*', Resource: '*' })], asked())).toBe(false);
    expect(isAllowed([allow(), allow({ Effect: 'Deny', Action: 's3:PutObject' })], asked())).toBe(true);
  });

  test('a dot in a resource is a dot', () => {
    expect(
      isAllowed([allow({ Resource: 'arn:aws:s3:::a.b' })], asked({ resource: 'arn:aws:s3:::axb' })),
    ).toBe(false);
  });
});

describe('a condition', () => {
  const cases: readonly [string, string | string[], string[] | undefined, boolean][] = [
    ['StringEquals', 'a', ['a'], true],
    ['StringEquals', 'a', ['b'], false],
    ['StringEquals', 'a*', ['ab'], false],
    ['StringEquals', 'a', undefined, false],
    ['StringLike', ['x', 'a*'], ['ab'], true],
    ['StringLikeIfExists', 'a*', undefined, true],
    ['StringLikeIfExists', 'a*', ['b'], false],
    ['ArnEquals', 'arn:aws:ecs:::cluster/*', ['arn:aws:ecs:::cluster/a'], true],
    ['ForAllValues:StringLike', 'TOKEN#*', ['TOKEN#1', 'TOKEN#2'], true],
    ['ForAllValues:StringLike', 'TOKEN#*', ['TOKEN#1', 'SESSION#2'], false],
    ['ForAllValues:StringLike', 'TOKEN#*', undefined, true],
    ['Null', 'false', ['a'], true],
    ['Null', 'false', undefined, false],
  ];

  test.each(cases)('%s of %j with %j: %j', (...[operator, wanted, found, expected]) => {
    const statement = allow({ Condition: { [operator]: { key: wanted } } });
    const context: Record<string, string[]> = found === undefined ? {} : { key: found };
    expect(isAllowed([statement], asked({ context }))).toBe(expected);
  });

  test('every one of a statement must hold', () => {
    const Condition = { StringEquals: { a: '1', b: '2' } };
    expect(isAllowed([allow({ Condition })], asked({ context: { a: ['1'], b: ['2'] } }))).toBe(true);
    expect(isAllowed([allow({ Condition })], asked({ context: { a: ['1'], b: ['3'] } }))).toBe(false);
  });

  test('that is unknown is an error', () => {
    const Condition = { NumericLessThan: { a: '1' } };
    expect(() => isAllowed([allow({ Condition })], asked())).toThrow('NumericLessThan');
  });
});
