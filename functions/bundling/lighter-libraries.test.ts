/** Parts that are left out of the SDK's descriptions of services, and those that stay. */
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import { expect, test } from 'vitest';
import { lighterDescription, withHttp1, withOwnHttp2, withoutOwnDescriptions } from './lighter-libraries.ts';
import LruCache from './lru-cache.ts';

const description = `const n0 = "com.amazonaws.dynamodb";
const _e = "error";
const _hE = "httpError";
const n0_registry = new TypeRegistry(n0);
export var TransactionCanceledException$ = [-3, n0, _TCE,
    { [_e]: _c, [_hE]: 400 },
];
n0_registry.registerError(TransactionCanceledException$, TransactionCanceledException);
n0_registry.registerError(LimitExceededException$, LimitExceededException);
const other = { [unknown]: 1 };
`;

test('constants are written as keys, and only errors whose fields are read are registered', () => {
  const light = lighterDescription(description, 'client-dynamodb');
  expect(light).toContain('{ "error": _c, "httpError": 400 },');
  expect(light).toContain('{ [unknown]: 1 }');
  expect(light.match(/registerError\((\w+)\$/g)).toEqual(['registerError(TransactionCanceledException$']);
  expect(light.split('\n')).toHaveLength(description.split('\n').length);
});

test('a service that is not named keeps all its errors', () => {
  expect(lighterDescription(description, 'client-s3').match(/registerError/g)).toHaveLength(2);
});

test.each([
  [
    'client-dynamodb',
    ['ConditionalCheckFailedException', 'ReplicatedWriteConflictException', 'TransactionCanceledException'],
  ],
  ['client-lambda', []],
])('the description of %s has the form that is expected', async (service, errors) => {
  const url = import.meta.resolve(`@aws-sdk/${service}`);
  const file = new URL('../dist-es/schemas/schemas_0.js', url);
  const light = lighterDescription(await readFile(file, 'utf8'), service);
  const registered = Array.from(
    light.matchAll(/^n0_registry\.registerError\(\w+\$, (\w+)\);$/gm),
    ([, name]) => name,
  );
  expect(registered).toEqual(errors);
  expect(light).not.toMatch(/\[_\w+\]: /);
});

test('the files that name both versions of HTTP have the form that is expected', async () => {
  const read = (path: string): Promise<string> =>
    readFile(new URL(`../node_modules/${path}`, pathToFileURL(import.meta.dirname)), 'utf8');
  expect(withHttp1(await read('@smithy/node-http-handler/dist-es/index.js'))).not.toMatch(/http2/i);
  const settings = withOwnHttp2(await read('@aws-sdk/client-bedrock-runtime/dist-es/runtimeConfig.js'));
  expect(settings).toContain('"@smithy/node-http-handler/dist-es/node-http2-handler.js"');
});

test('the classes of schemas have no code of a JSON schema, and are whole otherwise', async () => {
  const read = (path: string): Promise<string> =>
    readFile(new URL(`../node_modules/${path}`, pathToFileURL(import.meta.dirname)), 'utf8');
  const whole = await read('zod/v4/classic/schemas.js');
  const light = withoutOwnDescriptions(whole);
  expect(light).not.toMatch(/processJSONSchema|JSONSchemaMethod\(/);
  const described = Array.from(whole.matchAll(/processJSONSchema = /g)).length;
  const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');
  expect(lines(whole).length - lines(light).length).toBe(described + 4 + 3);
  await transform(light, { loader: 'js' });
});

test('the small cache forgets what was asked longest ago', () => {
  const cache = new LruCache<string, number>(2);
  cache.set('one', 1);
  cache.set('two', 2);
  expect(cache.get('one')).toBe(1);
  cache.set('three', 3);
  expect(['one', 'two', 'three'].map((key) => [cache.has(key), cache.peek(key)])).toEqual([
    [true, 1],
    [false, undefined],
    [true, 3],
  ]);
  cache.clear();
  expect(cache.get('one')).toBeUndefined();
});
