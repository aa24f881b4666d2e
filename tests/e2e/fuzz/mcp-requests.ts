/**
 * Requests to `/mcp`, made of what `tools/list` says: tools by their schemas, in envelopes and with headers of both
 * generations of the protocol, right, wrong and contradicting each other.
 */
import * as fc from 'fast-check';
import { idHints } from './cast.ts';
import { framings, requestHeaders, withLargeBody } from './http-parts.ts';
import type { Header, RawRequest } from './raw-http.ts';
import { type Hints, mistaken, type Schema } from './schema-values.ts';
import { asBytes, perhapsDamaged, wildJson } from './wild-values.ts';

export type ListedTool = { readonly name: string; readonly inputSchema: Schema };

/** A tool that waits does not: it would only be slow. */
const hints: Hints = {
  session_id: idHints.quietSession,
  flavor: ['micro', 'Small', 'gigantic'],
  template: ['python', 'node', 'ruby'],
  timeout: [1, 0, 301],
  wait_seconds: [0, 0, 61],
  project_id: idHints.project,
  project: idHints.project,
  workspace_id: ['{{nothing}}', 'no-id'],
  token_id: idHints.token,
  scope: ['admin:ro', 'project:{{ownProject}}', 'root'],
  path: ['a.txt', '../x', '/etc/passwd', 'a\0b', ''],
};

/** Which protocol a request claims to speak: in its headers, in its `_meta`, or in neither. */
const modern = '2026-07-28';
const versions = [modern, '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2099-01-01', '', 'x'];

const metaOf = (version: string): object => ({
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
});

const metas = fc.oneof(
  { weight: 4, arbitrary: fc.constant(JSON.stringify(metaOf(modern))) },
  { weight: 4, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom(...versions).map((version) => JSON.stringify(metaOf(version))) },
  { weight: 1, arbitrary: wildJson },
  {
    weight: 1,
    arbitrary: fc.constantFrom('{"progressToken":1}', '{"progressToken":{}}', '{"progressToken":"\\ud800"}'),
  },
);

const otherMethods = [
  ...[
    'tools/list',
    'initialize',
    'ping',
    'server/discover',
    'resources/list',
    'resources/read',
    'prompts/get',
  ],
  ...[
    'completion/complete',
    'logging/setLevel',
    'subscriptions/listen',
    'tasks/get',
    'notifications/initialized',
  ],
  ...[
    'notifications/cancelled',
    'notifications/progress',
    'notifications/none',
    'rpc.discover',
    '__proto__',
    '',
    'tools/CALL',
  ],
];

const knownParams = fc.constantFrom(
  ...['{}', '{"cursor":"x"}', '{"cursor":7}', '{"uri":"x://y"}', '{"level":"debug"}', '{"requestId":1}'],
  ...[
    '{"requestId":"x","reason":7}',
    '{"requestId":null}',
    '{"name":7}',
    '{"name":"none","arguments":[]}',
    '[]',
  ],
  '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"fuzz","version":"1"}}',
  '{"protocolVersion":7,"capabilities":null,"clientInfo":"x"}',
);

type Asked = { readonly method: string; readonly name: string; readonly params: string };

const callsOf = (tools: readonly ListedTool[]): fc.Arbitrary<Asked> =>
  fc.oneof(
    ...tools.map(({ name, inputSchema }) =>
      fc.tuple(mistaken(inputSchema, hints), metas).map(([args, meta]) => ({
        method: 'tools/call',
        name,
        params: `{"name":${JSON.stringify(name)},"arguments":${args}${meta === '' ? '' : `,"_meta":${meta}`}}`,
      })),
    ),
  );

const others: fc.Arbitrary<Asked> = fc
  .tuple(fc.constantFrom(...otherMethods), fc.oneof(knownParams, wildJson), metas)
  .map(([method, params, meta]) => ({
    method,
    name: '',
    params:
      meta !== '' && params.startsWith('{')
        ? params.replace(/^\{(?=(.))/, (_, next: string) => `{"_meta":${meta}${next === '}' ? '' : ','}`)
        : params,
  }));

const ids = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('1', '"a"') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('', 'null', '0', '-1', '1.5', '1e400', '[]', '{}', 'true', '""', '"\\ud800"'),
  },
  { weight: 1, arbitrary: wildJson },
);
const versionsOfRpc = fc.oneof(
  { weight: 12, arbitrary: fc.constant('"2.0"') },
  { weight: 1, arbitrary: fc.constantFrom('"1.0"', '2', 'null', '2.0', '["2.0"]') },
);

const envelopeOf = ({ method, params }: Asked): fc.Arbitrary<string> =>
  fc.tuple(versionsOfRpc, ids).map(([version, id]) => {
    const fields = [
      `"jsonrpc":${version}`,
      ...(id === '' ? [] : [`"id":${id}`]),
      `"method":${JSON.stringify(method)}`,
    ];
    return `{${fields.join(',')},"params":${params}}`;
  });

const answersInstead = fc.constantFrom(
  ...['{"jsonrpc":"2.0","id":1,"result":{}}', '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}'],
  ...['{"jsonrpc":"2.0","id":1}', '{"jsonrpc":"2.0"}', '{}', '[]', '[[]]', '[{}]', '""', '7', 'null', ''],
);

const packed = (text: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 16, arbitrary: fc.constant(text) },
    {
      weight: 1,
      arbitrary: fc.integer({ min: 1, max: 12 }).map((times) => `[${Array(times).fill(text).join(',')}]`),
    },
    { weight: 1, arbitrary: answersInstead },
    { weight: 1, arbitrary: answersInstead.map((other) => `[${text},${other}]`) },
    { weight: 1, arbitrary: wildJson },
  );

const headersFor = ({ method, name }: Asked): fc.Arbitrary<readonly Header[]> => {
  const version = (value: string): readonly Header[] => [['MCP-Protocol-Version', value]];
  const right: readonly Header[] = [
    ...version(modern),
    ['Mcp-Method', method],
    ...(name === '' ? [] : ([['Mcp-Name', name]] satisfies readonly Header[])),
  ];
  return fc.oneof(
    { weight: 5, arbitrary: fc.constant(right) },
    { weight: 4, arbitrary: fc.constant(version('2025-11-25')) },
    { weight: 2, arbitrary: fc.constant<readonly Header[]>([]) },
    { weight: 2, arbitrary: fc.constantFrom(...versions).map(version) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(...otherMethods)
        .map((other) => [...version(modern), ['Mcp-Method', other]] satisfies readonly Header[]),
    },
    {
      weight: 1,
      arbitrary: fc.constant<readonly Header[]>([...right, ['Mcp-Name', 'other'], ['mcp-method', 'ping']]),
    },
    {
      weight: 1,
      arbitrary: fc.constant<readonly Header[]>([...right, ['Mcp-Session-Id', 'x'], ['Last-Event-ID', '7']]),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('\xff', '=?utf-8?B?eA==?=', '__proto__')
        .map(
          (name) =>
            [
              ...version(modern),
              ['Mcp-Method', 'tools/call'],
              ['Mcp-Name', name],
            ] satisfies readonly Header[],
        ),
    },
  );
};

const accepts = fc.constantFrom(
  'application/json, text/event-stream',
  'application/json',
  'text/event-stream',
  '*/*',
  'text/html',
  ';q=',
);

/** `{"a":""}` around the fill makes up the rest. */
const bodyBytes = 4 * 1_048_576;
const largeBodies = fc
  .constantFrom(bodyBytes - 8, bodyBytes - 7, 4_600_000)
  .map((bytes) => `{"a":"{{fill:${bytes}}}"}`);

const methods = fc.oneof(
  { weight: 40, arbitrary: fc.constant('POST') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('GET', 'DELETE', 'PUT', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE', 'PROPFIND'),
  },
);

const targets = fc.oneof(
  { weight: 20, arbitrary: fc.constant('/mcp') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('/mcp?x=%ff', '/mcp?ticket={{ticket}}', '/mcp#x', '/./mcp', '/api/../mcp'),
  },
);

export const mcpRequests = (tools: readonly ListedTool[]): fc.Arbitrary<RawRequest> =>
  fc.oneof({ weight: 4, arbitrary: callsOf(tools) }, { weight: 1, arbitrary: others }).chain((asked) => {
    const body = perhapsDamaged(envelopeOf(asked).chain(packed).map(asBytes));
    const bodies = fc.oneof({ weight: 600, arbitrary: body }, { weight: 1, arbitrary: largeBodies });
    return fc
      .tuple(methods, targets, fc.tuple(requestHeaders, headersFor(asked), accepts), bodies, framings)
      .map(([method, target, [headers, own, accept], sent, framing]) =>
        withLargeBody({
          method,
          target,
          headers: [...headers, ...own, ['Accept', accept]] satisfies readonly Header[],
          body: sent,
          framing,
        }),
      );
  });
