/**
 * Values that no contract asks for, and texts that are almost JSON: what every door of the fuzz is given.
 *
 * A body is made as bytes, one character a byte (Latin-1), so that it may be no UTF-8. Where a case names
 * something of the server it does so as `{{name}}` (cast.ts), so that one seed gives the same cases to any server.
 */
import * as fc from 'fast-check';

const nestedLevels = [33, 1000, 20_000];
const lengths = [63, 64, 65, 128, 129, 255, 256, 257, 1024, 4096, 4097, 8193, 65_537];

export const wildTexts = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...['', ' ', '\0', 'a\0b', '\u0001\u001b[2J', 'a\r\nb', '\u2028', '\u202e', '\ufeff', 'ﬀ', '🧑‍🚀'],
      ...['\ud800', '\udc00x', 'a\ud83d', 'NaN', 'Infinity', '-0', '1e999', 'null', 'true', 'undefined'],
      ...[
        '__proto__',
        'constructor',
        'toString',
        'hasOwnProperty',
        '../../etc/passwd',
        '/etc/passwd',
        '%2e%2e%2f',
      ],
      ...['$' + '{HOME}', '#', 'SESSION#x', '{}', '[]', "'", '"', '\\', '\\ud800', '1970-01-01', '0x10', '٣'],
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom(...lengths).map((length) => 'x'.repeat(length)) },
  { weight: 1, arbitrary: fc.constantFrom(...lengths).map((length) => 'ü'.repeat(length)) },
);

export const wildNumbers = fc.oneof(
  fc.constantFrom(0, -0, -1, 1, 0.5, 2 ** 31, 2 ** 53, -(2 ** 53), 1e21, 1e308, -1e308, 5e-324, 1e-7),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
);

/** As JSON text: some of them no `JSON.stringify` would write. */
export const wildJson: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: wildTexts.map((text) => JSON.stringify(text)) },
  { weight: 3, arbitrary: wildNumbers.map(String) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...[
        'null',
        'true',
        'false',
        '[]',
        '{}',
        '[[]]',
        '[null]',
        '{"":""}',
        '[1,"a",null,{}]',
        '1e400',
        '-1e400',
      ],
      ...['{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{}}}', '{"a":1,"a":2}', '"\\ud800"'],
      ...[
        '{"length":-1}',
        '{"toJSON":1}',
        '{"then":1}',
        '{"$ref":"#"}',
        '0.1e-999',
        '"\\u0000"',
        '"{{nothing}}"',
      ],
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom(...nestedLevels).map((n) => '['.repeat(n) + ']'.repeat(n)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...nestedLevels).map((n) => `${'{"a":'.repeat(n)}0${'}'.repeat(n)}`),
  },
  { weight: 1, arbitrary: fc.json({ maxDepth: 4 }) },
);

export const asBytes = (text: string): string => Buffer.from(text).toString('latin1');

/** A text damaged on its way: cut, overwritten, followed by something, or in another encoding. */
const damaged = (bytes: string): fc.Arbitrary<string> => {
  const place = fc.nat({ max: Math.max(0, Math.min(bytes.length, 5000) - 1) });
  const junk = fc.constantFrom(
    '\xff',
    '\xc3',
    '\xed\xa0\x80',
    '\0',
    ',',
    '}',
    '"',
    '\\',
    'NaN',
    '\xef\xbb\xbf',
    '{',
  );
  return fc.oneof(
    place.map((at) => bytes.slice(0, at)),
    fc.tuple(place, junk).map(([at, text]) => bytes.slice(0, at) + text + bytes.slice(at)),
    fc.tuple(place, junk).map(([at, text]) => bytes.slice(0, at) + text + bytes.slice(at + text.length)),
    junk.map((text) => bytes + text),
    fc.constant(Buffer.from(bytes, 'latin1').toString('utf16le')),
    fc.constant(Buffer.from(bytes, 'utf16le').toString('latin1')),
    fc.constant(`${bytes}${bytes}`),
    fc.constant(bytes.replaceAll('"', "'")),
  );
};

/** Mostly as it is: what is refused for its form never reaches the contract behind it. */
export const perhapsDamaged = (body: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  body.chain((bytes) =>
    fc.oneof({ weight: 8, arbitrary: fc.constant(bytes) }, { weight: 1, arbitrary: damaged(bytes) }),
  );
