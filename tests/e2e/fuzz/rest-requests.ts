/**
 * Requests to `/api`, made of the document that the server gives of itself: a new route is fuzzed by being there.
 *
 * An operation that documents 502 or 503 may start a sandbox: it gets ids of sessions that have none to start.
 */
import * as fc from 'fast-check';
import { idHints } from './cast.ts';
import { framings, requestHeaders, withLargeBody } from './http-parts.ts';
import type { RawRequest } from './raw-http.ts';
import { fitting, type Hints, mistaken, type Schema } from './schema-values.ts';
import { asBytes, perhapsDamaged, wildJson, wildTexts } from './wild-values.ts';

type Parameter = { readonly in: string; readonly name: string; readonly schema: Schema };

type Operation = {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
  readonly responses: Readonly<Record<string, unknown>>;
};

export type OpenApi = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

export type RestCase = RawRequest & {
  /** Statuses in the document; absent for a request of no documented operation. */
  readonly documented?: readonly number[];
};

const hints: Hints = {
  flavor: ['micro', 'SMALL', 'gigantic'],
  template: ['python', 'node', 'ruby'],
  provider: ['demo', 'claude', 'bedrock'],
  model: ['demo', 'none'],
  project: idHints.project,
  scope: ['admin:ro', 'project:{{ownProject}}', 'project:{{nothing}}:ro', 'root'],
  transport: ['http', 'sse', 'carrier pigeon'],
  url: ['http://fuzz.invalid/mcp', 'http://169.254.169.254/', 'http://[::1]/', 'ftp://x', 'http://'],
  text: ['hello'],
  messageId: ['m-1', 'm-2'],
};

const segments = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...[
        '%',
        '%zz',
        '%ff',
        '%00',
        '%2e%2e',
        '..%2fx',
        '%2F',
        '.',
        '..',
        ';x=1',
        'a%20b',
        '%F0%9F%92%A9',
        '%u0041',
      ],
      ...['\xff', '\xf0\x9f', '{id}', '*', '%252e', '__proto__', 'constructor', '-1', '8e3', '99999', '007'],
    ),
  },
  { weight: 1, arbitrary: wildTexts.map((text) => encodeURIComponent(text.toWellFormed())) },
);

/** For a key of the table. */
const tooLong = 'x'.repeat(2049);

const parts: Readonly<Record<string, readonly string[]>> = {
  callId: ['call-1', '%00', 'x'.repeat(300)],
  name: ['fuzz', 'KEY', '__proto__', 'a%2Fb', 'n'.repeat(129), tooLong],
  port: ['8000', '8999', '7999', '80', '65536', '0x1f40', '8000.5'],
  path: [
    'a.txt',
    'a/b/c',
    '..%2F..%2Fetc%2Fpasswd',
    '%2e%2e/x',
    'a//b',
    'a%00b',
    'x'.repeat(5000),
    '%ff',
    '',
  ],
};

const partOf = (name: string, path: string, isQuiet: boolean): fc.Arbitrary<string> => {
  const kind = /\/(\w+)\/\{id\}/.exec(path)?.[1] ?? '';
  const sessions = isQuiet ? idHints.quietSession : idHints.anySession;
  const ids: Readonly<Record<string, readonly string[]>> = {
    sessions,
    projects: idHints.project,
    tokens: idHints.token,
  };
  const known =
    name === 'id'
      ? (ids[kind] ?? ['{{nothing}}', '{{ownProject}}'])
      : (parts[name] ?? ['{{nothing}}', tooLong]);
  return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: segments });
};

const queryValues = (schema: Schema, name: string): fc.Arbitrary<string> =>
  fc
    .oneof(fitting(schema, { hints, named: name, depth: 0 }), wildJson)
    .map((json) =>
      encodeURIComponent(asText(json).slice(0, 2000).toWellFormed()).replaceAll(
        /%7[BD]/g,
        decodeURIComponent,
      ),
    );

const asText = (json: string): string => (/^".*"$/s.test(json) ? String(JSON.parse(json)) : json);

const queries = (parameters: readonly Parameter[]): fc.Arbitrary<string> => {
  const given = parameters.map(({ name, schema }) =>
    fc.oneof(
      queryValues(schema, name).map((value) => [`${name}=${value}`]),
      fc.constant([]),
    ),
  );
  const odd = fc.constantFrom(
    '',
    '=',
    '&&&',
    'a',
    '__proto__=1',
    'a[]=1',
    '%=%',
    '%ff=%ff',
    'ticket={{ticket}}',
    'x=1&x=2',
    `q=${'x'.repeat(9000)}`,
  );
  return fc
    .tuple(
      fc.tuple(...given),
      fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: odd }),
    )
    .map(([pairs, more]) => [...pairs.flat(), ...(more === '' ? [] : [more])].join('&'))
    .map((query) => (query === '' ? '' : `?${query}`));
};

const bodyBytes = 4 * 1_048_576;
/** Around the limit of a body, of an event and of the gateway. */
const large = [bodyBytes - 13, bodyBytes - 12, bodyBytes - 11, 4_600_000, 10_485_761];
const largeBodies = fc.constantFrom(...large).map((bytes) => `{"text":"{{fill:${bytes}}}"}`);

const bodies = ({ requestBody }: Operation): fc.Arbitrary<string> => {
  const schema = requestBody?.content['application/json']?.schema;
  const json = schema === undefined ? wildJson : mistaken(schema, hints);
  const some = perhapsDamaged(json.map(asBytes));
  const none = fc.constant('');
  return requestBody === undefined
    ? fc.oneof({ weight: 5, arbitrary: none }, { weight: 1, arbitrary: some })
    : fc.oneof(
        { weight: 900, arbitrary: some },
        { weight: 60, arbitrary: none },
        { weight: 3, arbitrary: largeBodies },
      );
};

const otherMethods = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'get',
  'FOO',
];

const bentTargets = (target: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    ...[
      `${target}/`,
      `/${target}`,
      `${target}/..`,
      `${target}%2F..`,
      `${target};a=b`,
      `${target}#x`,
      target.toUpperCase(),
    ],
    ...[
      target.replace('/api/', '/api//'),
      target.replace('/api/', '/api/../api/'),
      `http://elsewhere${target}`,
    ],
    ...[
      target.replace('/api', '/api/..'),
      target.replaceAll('/', '%2F'),
      target.slice(0, -3),
      `${target}/\xff`,
    ],
  );

const requestsTo = (path: string, method: string, operation: Operation): fc.Arbitrary<RestCase> => {
  const isQuiet = ['502', '503'].some((status) => status in operation.responses);
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const { parameters = [] } = operation;
  const targets = fc
    .tuple(
      fc.tuple(...names.map((name) => partOf(name, path, isQuiet))),
      queries(parameters.filter((one) => one.in === 'query')),
    )
    .map(
      ([values, query]) =>
        `${names.reduce((text, name, index) => text.replace(`{${name}}`, () => values[index] ?? ''), path)}${query}`,
    );
  const documented = Object.keys(operation.responses).map(Number);
  const own = targets.map((target) => ({
    target,
    method: method.toUpperCase(),
    ...(isPlain(target) ? { documented } : {}),
  }));
  const bent = fc
    .tuple(targets.chain(bentTargets), fc.constantFrom(method.toUpperCase(), ...otherMethods))
    .map(([target, other]) => ({ target, method: other }));
  return fc
    .tuple(
      fc.oneof({ weight: 9, arbitrary: own }, { weight: 2, arbitrary: bent }),
      requestHeaders,
      bodies(operation),
      framings,
    )
    .map(([asked, headers, body, framing]) => withLargeBody({ ...asked, headers, body, framing }));
};

/** True while the values put into the path leave it a path of the operation. */
const isPlain = (target: string): boolean => {
  const [path = ''] = target.split('?');
  return (
    new URL(`http://origin${path.replaceAll(/[{}]/g, '')}`).pathname === path.replaceAll(/[{}]/g, '') &&
    !/\/(\/|$)|#/.test(path)
  );
};

export const restRequests = ({ paths }: OpenApi): fc.Arbitrary<RestCase> =>
  fc.oneof(
    ...Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => requestsTo(path, method, operation)),
    ),
  );
