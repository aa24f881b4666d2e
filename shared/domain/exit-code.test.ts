import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exitCodeIn, exitLine } from './exit-code.ts';

test('a code is read as it was written, whatever was said before', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(255), (said, code) => {
      expect(exitCodeIn(`${said}\n${exitLine(code)}`)).toBe(code);
      expect(exitCodeIn(exitLine(code))).toBe(code);
    }),
  );
});

test.each(['', 'hello', 'Exit code: 3\nand more', 'my Exit code: 3', 'Exit code: none'])(
  'nothing is said of an end in %j',
  (text) => {
    expect(exitCodeIn(text)).toBeUndefined();
  },
);
