/** Parts of requests to both HTTP APIs, besides target and body: credentials, odd headers, framing. */
import * as fc from 'fast-check';
import { tokenNames } from './cast.ts';
import type { Framing, Header, RawRequest } from './raw-http.ts';

const bearer = (value: string): readonly Header[] => [['Authorization', value]];

const strangers = fc.constantFrom<readonly Header[]>(
  [],
  bearer(''),
  bearer('Bearer'),
  bearer('Bearer  '),
  bearer('Bearer sp_'),
  bearer(`Bearer sp_${'0'.repeat(64)}`),
  bearer(`Bearer ${'A'.repeat(12_000)}`),
  bearer('Bearer a.b.c'),
  bearer('Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.'),
  bearer('Basic {{admin}}'),
  bearer('Bearer {{admin}} {{admin}}'),
  bearer('Bearer {{ticket}}'),
  bearer('Bearer \xff\xfe'),
  [...bearer('Bearer {{admin}}'), ...bearer('Bearer {{revoked}}')],
);

export const credentials: fc.Arbitrary<readonly Header[]> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(bearer('Bearer {{admin}}')) },
  { weight: 5, arbitrary: fc.constantFrom(...tokenNames).map((name) => bearer(`Bearer {{${name}}}`)) },
  { weight: 1, arbitrary: fc.constant<readonly Header[]>([['authorization', 'bearer {{admin}}']]) },
  { weight: 1, arbitrary: strangers },
);

const types = fc.constantFrom(
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
  ],
  ...[
    '',
    ';;;',
    'application/octet-stream',
    '*/*',
    'application/json, text/html',
    'text/event-stream',
    'x'.repeat(5000),
  ],
);

const contentTypes: fc.Arbitrary<readonly Header[]> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<readonly Header[]>([['Content-Type', 'application/json']]) },
  { weight: 1, arbitrary: fc.constant<readonly Header[]>([]) },
  { weight: 2, arbitrary: types.map((type): readonly Header[] => [['Content-Type', type]]) },
  {
    weight: 1,
    arbitrary: types.map((type): readonly Header[] => [
      ['Content-Type', 'application/json'],
      ['content-type', type],
    ]),
  },
);

const many = 150;

const odd = fc.constantFrom<readonly Header[]>(
  [['Content-Range', 'bytes 0-1/3']],
  [['Content-Range', 'bytes 9-1/-3']],
  [['Content-Range', 'bytes 0-99999999999999999999/99999999999999999999']],
  [['Content-Range', 'x']],
  [['Range', 'bytes=-1']],
  [['X-Request-Id', 'mine\t{{nothing}}']],
  [['x-amzn-RequestId', 'mine']],
  [['X-HTTP-Method-Override', 'DELETE']],
  [
    ['X-Forwarded-For', '1.2.3.4, x'],
    ['X-Forwarded-Proto', 'https'],
  ],
  [['Cookie', 'sallyport-preview=x; sallyport-preview=y; =; ;']],
  [['Origin', 'null']],
  [['Origin', 'https://elsewhere.example']],
  [['Accept', '']],
  [['Accept-Encoding', 'gzip, br;q=9']],
  [['Content-Encoding', 'gzip']],
  [
    ['If-Match', '*'],
    ['If-None-Match', '"x"'],
  ],
  [
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ],
  [['X-Wide', '\xe2\x82\xac\xff']],
  [['X-Huge', 'x'.repeat(17_000)]],
  Array.from({ length: many }, (_, index): Header => [`X-${index}`, 'x']),
  [
    ['Upgrade', 'h2c'],
    ['HTTP2-Settings', 'x'],
  ],
  [['Transfer-Encoding', 'gzip']],
  [['Bad Name', 'x']],
);

/** On a loopback address of whatever name; each connection carries one request. */
const always: readonly Header[] = [
  ['Host', '127.0.0.1'],
  ['Connection', 'close'],
];

export const requestHeaders: fc.Arbitrary<readonly Header[]> = fc
  .tuple(
    credentials,
    contentTypes,
    fc.oneof({ weight: 8, arbitrary: fc.constant<readonly Header[]>([]) }, { weight: 1, arbitrary: odd }),
  )
  .map((groups) => [...always, ...groups.flat()]);

export const framings: fc.Arbitrary<Framing> = fc.oneof(
  { weight: 30, arbitrary: fc.constant<Framing>('length') },
  { weight: 4, arbitrary: fc.constant<Framing>('chunked') },
  { weight: 1, arbitrary: fc.constantFrom<Framing>('short', 'expect', 'both', 'none') },
);

const plain: readonly Header[] = [
  ...always,
  ...bearer('Bearer {{admin}}'),
  ['Content-Type', 'application/json'],
];

/** Megabytes come with a head that is in order: a parser that refuses it hangs up on them, and its answer is lost. */
export const withLargeBody = <Asked extends RawRequest>(asked: Asked): Asked =>
  asked.body.includes('{{fill:')
    ? {
        ...asked,
        target: asked.target.replaceAll(/[^!-~]/g, '').slice(0, 8000),
        headers: plain,
        framing: 'length',
      }
    : asked;
