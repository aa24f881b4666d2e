import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mapToolNames } from './tool-names.ts';

const anthropic = { refused: /[^a-zA-Z0-9_-]/gu, charactersMax: 128 };
const gemini = { refused: /[^a-zA-Z0-9_]|^[0-9]/gu, charactersMax: 64 };
const tiny = { refused: /[^ab_0-9]/gu, charactersMax: 4 };

const forms = [
  { rule: anthropic, form: /^[a-zA-Z0-9_-]{1,128}$/ },
  { rule: gemini, form: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/ },
  { rule: tiny, form: /^[ab_0-9]{1,4}$/ },
];

const names = fc.array(
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: fc.constantFrom('a', 'b', '-', '_', '.', '2'), maxLength: 6 }),
    fc.constantFrom('', '__proto__', 'constructor', 'execute_command', 'execute-command', 'aaaaa', 'aaaaaa'),
  ),
  { maxLength: 40 },
);

test.each(forms)(
  'any names become distinct names that the provider allows, and are mapped back ($form)',
  (given) => {
    fc.assert(
      fc.property(names, (tools) => {
        const { toWire, fromWire } = mapToolNames(tools, given.rule);
        const wires = tools.map(toWire);
        for (const wire of wires) expect(wire).toMatch(given.form);
        expect(new Set(wires).size).toBe(new Set(tools).size);
        expect(wires.map(fromWire)).toEqual(tools);
      }),
    );
  },
);

test.each(forms)('a valid name stays unchanged ($form)', ({ rule, form }) => {
  fc.assert(
    fc.property(names, (tools) => {
      const { toWire } = mapToolNames(tools, rule);
      for (const tool of tools.filter((name) => form.test(name))) expect(toWire(tool)).toBe(tool);
    }),
  );
});

test('names that Gemini refuses are rewritten, and numbered on a conflict', () => {
  const { toWire } = mapToolNames(['read-file', 'read.file', 'read_file', '2nd'], gemini);
  expect(['read-file', 'read.file', 'read_file', '2nd'].map(toWire)).toEqual([
    'read_file_2',
    'read_file_3',
    'read_file',
    '_nd',
  ]);
});

test('long names that differ only after the limit stay distinct within it', () => {
  const rule = { refused: /[^a-z_0-9]/gu, charactersMax: 64 };
  const long = (end: string): string => `${'x'.repeat(64)}${end}`;
  const { toWire } = mapToolNames([long('a'), long('b')], rule);
  expect(toWire(long('a'))).toBe('x'.repeat(64));
  expect(toWire(long('b'))).toBe(`${'x'.repeat(62)}_2`);
});

test('an unknown name passes unchanged, both ways', () => {
  const { toWire, fromWire } = mapToolNames(['a.b'], anthropic);
  expect(fromWire('a_b')).toBe('a.b');
  expect(fromWire('invented')).toBe('invented');
  expect(toWire('c.d')).toBe('c.d');
});
