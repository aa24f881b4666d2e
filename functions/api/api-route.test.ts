/** Values of a path, headers that a route reads and gives, and a query that is sent on. */
import { expect, test } from 'vitest';
import { listQuery } from '#shared/contracts/rest/bodies.ts';
import { type ApiEvent, pathId, pathValue, queryOf, queryText } from './api-route.ts';
import { asAttachment } from './file-read-routes.ts';
import { acceptsEvents } from './output-stream.ts';

test.each([
  ['a b.txt', 'a%20b.txt'],
  ["it's (1)*.txt", 'it%27s%20%281%29%2A.txt'],
  ['客户.txt', '%E5%AE%A2%E6%88%B7.txt'],
])('RFC 8187: the name %s has no letter that ends a part of the header', (name, encoded) => {
  expect(asAttachment({ statusCode: 200, headers: {}, body: '' }, name).headers).toMatchObject({
    'content-disposition': `attachment; filename*=UTF-8''${encoded}`,
  });
});

test('a query that is sent on keeps what a page reads in it: blanks, repeated names, letters', () => {
  expect(queryText(null)).toBe('');
  expect(queryText({ x: [' y+&='], flag: [''], a: ['1', 'ü'] })).toBe('x=%20y%2B%26%3D&flag=&a=1&a=%C3%BC');
});

const queried = (text: string): ApiEvent => {
  const fields = new URLSearchParams(text);
  const names = [...new Set(fields.keys())];
  return {
    queryStringParameters: Object.fromEntries(fields),
    multiValueQueryStringParameters: Object.fromEntries(names.map((name) => [name, fields.getAll(name)])),
  } as unknown as ApiEvent;
};

test('a label may repeat; of any other name the last value counts', () => {
  const labels = (text: string) => queryOf(queried(text), listQuery, ['label']).label;
  const [red, one] = [
    { key: 'team', value: 'red' },
    { key: 'run', value: '1' },
  ];
  expect(labels('status=active')).toBeUndefined();
  expect(labels('label=')).toBeUndefined();
  expect(labels('label=team:red')).toEqual([red]);
  expect(labels('label=team:red&label=&label=run:1')).toEqual([red, one]);
  expect(() => labels('label=team:red&label=run')).toThrow('key:value');
  expect(() => labels(Array.from({ length: 17 }, (_, index) => `label=a:${index}`).join('&'))).toThrow('16');
  expect(queryOf(queried('status=idle&status=active'), listQuery).status).toBe('active');
});

test.each([
  ['text/event-stream', true],
  ['application/json, TEXT/Event-Stream;q=0.5', true],
  ['text/event-stream;q=0', false],
  ['text/event-stream-of-another-kind', false],
  ['*/*', false],
  [undefined, false],
])('Accept: %s: the answer is a stream of events: %s', (accept, isStream) => {
  expect(acceptsEvents({ headers: accept === undefined ? {} : { accept } } as ApiEvent)).toBe(isStream);
});

test('a value of a path is read as the client meant it, also an id and a name', () => {
  const id = crypto.randomUUID();
  const spelt = id.replace('-', '%2D').toUpperCase();
  const event = { pathParameters: { id: spelt, name: 'n%C3%B6t%65s' } } as unknown as ApiEvent;
  expect([pathId(event), pathValue(event, 'name')]).toEqual([id, 'nötes']);
  const broken = { pathParameters: { name: '%zz' } } as unknown as ApiEvent;
  expect(() => pathValue(broken, 'name')).toThrow('name: the path is not valid URL encoding');
  const long = { pathParameters: { name: '%F0%9F%98%80'.repeat(129) } } as unknown as ApiEvent;
  expect(() => pathValue(long, 'name')).toThrow('name: has at most 256 characters');
});
