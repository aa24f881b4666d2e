/**
 * Cases of `/ws`: handshakes with odd queries, headers and credentials, and connections that send frames all at once,
 * made of the contracts of the actions. Their end is often not a polite client's.
 */
import * as fc from 'fast-check';
import * as z from 'zod';
import { connectionQuery, socketActions } from '#shared/contracts/socket-actions.ts';
import { idHints } from './cast.ts';
import { credentials } from './http-parts.ts';
import type { Header, RawRequest } from './raw-http.ts';
import { fitting, type Hints, mistaken, type Schema } from './schema-values.ts';
import { bytesOfFrame, fragments, opcodes } from './socket-frames.ts';
import { asBytes, perhapsDamaged, wildJson } from './wild-values.ts';

const schemaOf = (contract: z.ZodType): Schema =>
  z.toJSONSchema(contract, { io: 'input', unrepresentable: 'any' }) as Schema;

const hints: Hints = {
  text: ['hello'],
  messageId: ['m-1', 'm-2'],
  callId: ['call-1', ''],
  sessionId: idHints.anySession,
  project: idHints.project,
  provider: ['demo', 'claude', 'bedrock', ''],
  flavor: ['micro', 'gigantic'],
  template: ['node', 'ruby'],
  since: ['-1', '0', '-2', '999999999999', '9999999999999', '1e3', 'x'],
};

const queryFields = Object.entries(schemaOf(connectionQuery).properties ?? {}).map(([name, schema]) =>
  fc
    .oneof(
      { weight: 5, arbitrary: fc.constant('') },
      { weight: 2, arbitrary: fitting(schema, { hints, named: name, depth: 0 }) },
      { weight: 1, arbitrary: wildJson },
    )
    .map((json) => (json === '' ? [] : [`${name}=${encoded(json)}`])),
);

const encoded = (json: string): string =>
  encodeURIComponent(
    (/^".*"$/s.test(json) ? String(JSON.parse(json)) : json).slice(0, 1000).toWellFormed(),
  ).replaceAll(/%7[BD]/g, decodeURIComponent);

const oddFields = fc.constantFrom(
  'ticket={{ticket}}',
  'ticket=x',
  'ticket=',
  '%=%',
  '%ff',
  '__proto__=1',
  'sessionId=x&sessionId=y',
  `q=${'x'.repeat(12_000)}`,
);

const queries = fc
  .tuple(
    fc.tuple(...queryFields),
    fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: oddFields }),
  )
  .map(([fields, odd]) => [...fields.flat(), ...(odd === '' ? [] : [odd])].join('&'));

const upgrade: readonly Header[] = [
  ['Upgrade', 'websocket'],
  ['Connection', 'Upgrade'],
  ['Sec-WebSocket-Version', '13'],
  ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
];
const replaced = (name: string, ...values: readonly string[]): readonly Header[] => [
  ...upgrade.filter(([other]) => other !== name),
  ...values.map((value): Header => [name, value]),
];

const upgrades = fc.oneof(
  { weight: 6, arbitrary: fc.constant(upgrade) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      replaced('Upgrade', 'h2c'),
      replaced('Upgrade', 'websocket, h2c'),
      replaced('Connection', 'close'),
      replaced('Sec-WebSocket-Version', '12'),
      replaced('Sec-WebSocket-Version'),
      replaced('Sec-WebSocket-Key'),
      replaced('Sec-WebSocket-Key', 'short'),
      replaced('Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ==', 'dGhlIHNhbXBsZSBub25jZQ=='),
      [...upgrade, ['Sec-WebSocket-Protocol', 'sallyport.v1, ticket.{{ticket}}']] satisfies readonly Header[],
      [...upgrade, ['Sec-WebSocket-Protocol', 'other']] satisfies readonly Header[],
      [...upgrade, ['Sec-WebSocket-Protocol', ',,']] satisfies readonly Header[],
      [...upgrade, ['Sec-WebSocket-Protocol', 'a, a']] satisfies readonly Header[],
      [
        ...upgrade,
        ['Sec-WebSocket-Extensions', 'permessage-deflate; server_max_window_bits=99'],
      ] satisfies readonly Header[],
      [...upgrade, ['Sec-WebSocket-Extensions', ';;=,"']] satisfies readonly Header[],
      [...upgrade, ['Origin', 'https://elsewhere.example']] satisfies readonly Header[],
    ),
  },
);

const paths = fc.oneof(
  { weight: 12, arbitrary: fc.constant('/ws') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('/ws/', '/ws/x', '/ws%2f', '/api/ws', '/mcp', '//ws', '/ws/@connections/x'),
  },
);
const methods = fc.oneof(
  { weight: 15, arbitrary: fc.constant('GET') },
  { weight: 1, arbitrary: fc.constantFrom('POST', 'HEAD', 'PUT', 'FOO') },
);

export const handshakes: fc.Arbitrary<RawRequest> = fc
  .tuple(methods, paths, queries, upgrades, credentials)
  .map(([method, path, query, headers, credential]) => ({
    method,
    target: query === '' ? path : `${path}?${query}`,
    headers: [['Host', '127.0.0.1'], ...headers, ...credential] satisfies readonly Header[],
    body: '',
    framing: 'none',
  }));

/** A text that a client sends, in so many frames. */
export type Said = { readonly text: string; readonly pieces: number };

/** The end of a connection, with its code unless the client is too rude to be told. */
export type Ending = { readonly name: string; readonly bytes: string; readonly code: number };

export type Conversation = {
  readonly token: string;
  /** Empty: a new one. */
  readonly session: string;
  readonly said: readonly Said[];
  readonly ending: Ending;
};

const actions = fc.oneof(
  ...Object.values(socketActions).map((contract) => ({
    // A message that is accepted is a whole turn.
    weight: contract === socketActions.message ? 1 : 2,
    arbitrary: mistaken(schemaOf(contract), hints),
  })),
);

const unknownActions = fc.constantFrom(
  '{"action":"message:send"}',
  '{"action":7}',
  '{"action":"__proto__"}',
  '{"Action":"ping"}',
  '{"action":"PING"}',
  '{"action":"ping","action":"none"}',
);

/** A whole frame of the gateway's, and a message of it. */
const frameBytesMax = 32 * 1024;
const longTexts = fc
  .constantFrom(frameBytesMax, 100 * 1024)
  .map((bytes) => `{"action":"none","x":"${'x'.repeat(bytes - 24)}"}`);

/** Text in valid UTF-8: other bytes end a connection and are one of the endings. */
const inUtf8 = (bytes: string): string => asBytes(Buffer.from(bytes, 'latin1').toString());

/** Well below both limits of the gateway, which are met on purpose only: a name grows when it is spoken. */
const messageBytesMax = 100 * 1024;
const inFrames = (text: string, pieces: number): Said => ({
  text,
  pieces: Math.max(pieces, Math.ceil(text.length / (frameBytesMax / 2))),
});

const said: fc.Arbitrary<Said> = fc.oneof(
  {
    weight: 40,
    arbitrary: fc
      .tuple(
        perhapsDamaged(
          fc.oneof({ weight: 9, arbitrary: actions }, { weight: 1, arbitrary: unknownActions }).map(asBytes),
        ),
        fc.constantFrom(1, 1, 1, 2, 7),
      )
      .map(([text, pieces]) => inFrames(inUtf8(inUtf8(text).slice(0, messageBytesMax)), pieces)),
  },
  {
    weight: 1,
    arbitrary: longTexts.map((text) => ({ text, pieces: Math.ceil(text.length / frameBytesMax) })),
  },
);

const { text, binary, unassigned, continuation, close, ping } = opcodes;
const raw = (name: string, code: number, bytes: Buffer): Ending => ({
  name,
  code,
  bytes: bytes.toString('latin1'),
});
const single = (opcode: number, payload: string, more = {}): Buffer =>
  bytesOfFrame({ opcode, payload, isLast: true, ...more });

const polite = raw('a close', 1000, single(close, '\x03\xe8'));
const endings = fc.oneof(
  { weight: 10, arbitrary: fc.constant(polite) },
  { weight: 2, arbitrary: fc.constant<Ending>({ name: 'a cut', code: 1006, bytes: '' }) },
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      raw('a binary frame', 1003, single(binary, '\x00')),
      raw('a frame over 32 KB', 1009, single(text, 'x'.repeat(frameBytesMax + 1))),
      raw(
        'a message over 128 KB',
        1009,
        Buffer.concat(fragments('x'.repeat(150 * 1024), 5).map(bytesOfFrame)),
      ),
      raw(
        'a frame that announces more than memory',
        1009,
        Buffer.from([0x81, 0xff, 0x7f, 0xff, 0, 0, 0, 0, 0, 0]),
      ),
      raw('a text that is no UTF-8', 1007, single(text, '"\xff\xfe"')),
      raw('an opcode of nobody', 1002, single(unassigned, 'x')),
      raw('a frame without a mask', 1002, single(text, '{}', { isMasked: false })),
      raw('a reserved bit', 1002, single(text, '{}', { reservedBits: 2 })),
      raw('a continuation of nothing', 1002, single(continuation, 'x')),
      raw('a control frame that is too long', 1002, single(ping, 'x'.repeat(126))),
      raw('a close of one byte', 1002, single(close, 'x')),
      raw('a close with a code of nobody', 1002, single(close, '\x03\xe7')),
      raw('a close without a code', 1005, single(close, '')),
    ),
  },
);

const guests = fc.oneof(
  { weight: 12, arbitrary: fc.constant(['admin', '{{talk}}'] as const) },
  { weight: 4, arbitrary: fc.constant(['admin', ''] as const) },
  { weight: 2, arbitrary: fc.constant(['project', ''] as const) },
  { weight: 1, arbitrary: fc.constant(['reader', '{{talk}}'] as const) },
  { weight: 1, arbitrary: fc.constant(['admin', '{{ended}}'] as const) },
);

const saidAtOnce = 24;
const crowd = 100;
const sayings = fc.oneof(
  { weight: 20, arbitrary: fc.array(said, { minLength: saidAtOnce, maxLength: saidAtOnce }) },
  { weight: 1, arbitrary: fc.array(said, { minLength: crowd, maxLength: crowd }) },
);

/** A session of several cases is not ended by one of them. */
const spared = (session: string, sayings: readonly Said[]): readonly Said[] =>
  session === '' ? sayings : sayings.filter(({ text: line }) => !line.includes('session:stop'));

export const conversations: fc.Arbitrary<Conversation> = fc
  .tuple(guests, sayings, endings)
  .map(([[token, session], lines, ending]) => ({ token, session, said: spared(session, lines), ending }));
