/**
 * Calls that a function's code can reach beside the rights of its role. The policies' scenario makes a call only if it comes by there: a
 * socket that is open at the right moment, a request of one kind. Here the imports say it.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { environments, type FunctionName } from '#shared/config/environment.ts';
import { named, synthesise } from '../stacks/synthesise.ts';
import { inRepository } from './repository-path.ts';

const names = Object.keys(environments) as FunctionName[];
const { compute } = synthesise();

/** Values that a file imports, here and in `shared`; a type is not there at run time. */
const imports = /^(?:import|export)\s(?!type\b)[^;]*?from '((?:\.|#shared\/)[^']+\.ts)'/gm;
const loaded = /\bimport\('((?:\.|#shared\/)[^']+\.ts)'\)/g;

const pathFrom = (file: string, imported: string): string =>
  imported.startsWith('#') ? imported.slice(1) : join(dirname(file), imported);

/** The text of each file that the function's handler imports, and its own. */
const codeOf = (name: FunctionName): readonly string[] => {
  const texts = new Map<string, string>();
  const read = (file: string): void => {
    if (texts.has(file)) return;
    const text = readFileSync(inRepository(file), 'utf8');
    texts.set(file, text);
    for (const pattern of [imports, loaded])
      for (const [, imported = ''] of text.matchAll(pattern)) read(pathFrom(file, imported));
  };
  read(`functions/${name}/handler.ts`);
  return [...texts.values()];
};

const codes = new Map(names.map((name) => [name, codeOf(name)]));
const callersOf = (call: string): readonly FunctionName[] =>
  names.filter((name) => codes.get(name)?.some((text) => text.includes(call)));

type Statement = {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: { readonly 'ForAllValues:StringLike'?: { readonly 'dynamodb:LeadingKeys': unknown } };
};
const allowing = (name: FunctionName, action: string): readonly Statement[] => {
  const { Properties } = named(compute, 'AWS::IAM::Policy', `Functions${name.replaceAll('-', '')}Role`);
  const statements: readonly Statement[] = Properties.PolicyDocument.Statement;
  return statements.filter(({ Action }) => [Action].flat().includes(action));
};

test('the imports of a function are followed to their end', () => {
  expect(codes.get('api')?.length).toBeGreaterThan(300);
});

describe('a connection', () => {
  const methodsOf = (name: FunctionName): string =>
    JSON.stringify(allowing(name, 'execute-api:ManageConnections').map(({ Resource }) => Resource));
  const mayClose = (name: FunctionName): boolean => methodsOf(name).includes('/ws/DELETE/@connections/*');

  test('is closed by exactly the functions whose code can close one', () => {
    // A function without the address of the connections has imported the code beside what it uses of it.
    const closing = callersOf('sockets.close(').filter(
      (name) => 'CONNECTIONS_URL' in environments[name].shape,
    );
    expect(closing).toContain('janitor');
    expect(names.filter(mayClose)).toEqual(closing);
  });
});

describe('a batch of writes', () => {
  const partitionsOf = (name: FunctionName): readonly string[] =>
    allowing(name, 'dynamodb:BatchWriteItem').flatMap(
      ({ Condition }) =>
        [Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? []].flat() as string[],
    );

  // One request deletes items of the session and its pointer in the project.
  test('reaches the sessions and the projects of exactly the functions whose code can delete a session', () => {
    const forgetting = callersOf('sessions.forget(');
    expect(forgetting).toContain('api');
    const wanted = (name: FunctionName): readonly string[] =>
      forgetting.includes(name) ? ['PROJECT#*', 'SESSION#*'] : (emptied[name] ?? []);
    expect(names.map((name) => [name, partitionsOf(name)])).toEqual(
      names.map((name) => [name, wanted(name)]),
    );
  });
  const emptied: Partial<Record<FunctionName, readonly string[]>> = {
    schedules: ['SCHEDULE#*'],
    webhooks: ['WEBHOOK#*'],
  };
});
