import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from '../canonical-json.ts';
import type { CallId, TurnId } from '../ids.ts';
import type { Json, JsonObject } from '../json.ts';
import { digestText } from './waiting-call.ts';

const call = (args: JsonObject) => ({ turnId: 't' as TurnId, callId: 'c' as CallId, name: 'n', args });

test('the example of RFC 8785, section 3.2.2 and 3.2.3', () => {
  const value = {
    numbers: JSON.parse('[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]') as Json,
    string: '\u20ac$\u000F\u000aA\u0027\u0042\u0022\u005c\\\u0022/',
    literals: [null, true, false],
  };
  expect(canonicalJson(value)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

test('names are in the order of their UTF-16 code units (RFC 8785, 3.2.3)', () => {
  const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
  const names = Object.keys(JSON.parse(canonicalJson(value)) as object);
  expect(canonicalJson(value)).toBe(
    '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
  );
  expect(names).toHaveLength(7);
});

test('contains the whole call, independent of the order of its names', () => {
  expect(digestText(call({ b: 1, a: [{ d: 1, c: 2 }] }))).toBe(
    '{"args":{"a":[{"c":2,"d":1}],"b":1},"callId":"c","name":"n","turnId":"t"}',
  );
  const hash = createHash('sha256')
    .update(digestText(call({ command: 'echo ü' })))
    .digest('hex');
  expect(hash).toBe('7294d89a8978cdd4eca3e923e6e21ff11d982979b375c8b1cfdf37e322028545');
});

test('two values have the same text only if they are the same JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const [left, right] = [canonicalJson(one as Json), canonicalJson(other as Json)];
      expect(JSON.parse(left)).toEqual(JSON.parse(JSON.stringify(one)));
      if (left === right) expect(JSON.parse(JSON.stringify(one))).toEqual(JSON.parse(JSON.stringify(other)));
    }),
  );
});
