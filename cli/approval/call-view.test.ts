import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Effect } from '#shared/domain/effect.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { digestOf } from '../fixtures/fake-deployment.ts';
import { callInShort, callLines } from './call-view.ts';

const named = { sessionId: 's-1', turnId: 't-1', callId: 'c-1', name: 'execute_command' };
const shown = (args: JsonObject, columns?: number) =>
  callLines({ ...named, args, digest: digestOf({ ...named, args }) }, columns);

/** SHA-256 of {"args":{"command":"a\nb","timeout":5},"callId":"c-1","name":"execute_command","turnId":"t-1"} */
const digest = '896f2e0a0fe99c84ee880eb7a63ef14f2ede4ba643e9f9d5ba5b2ec6c8916415';

test('a call is shown with all its arguments, their size and its digest', () => {
  expect(shown({ command: 'a\nb', timeout: 5 })).toEqual([
    'execute_command, call c-1, session s-1',
    'command (text: 3 bytes, 2 lines)',
    '│ a',
    '│ b',
    'timeout (JSON: 1 byte, 1 line)',
    '│ 5',
    `digest ${digest}`,
  ]);
});

test('model output cannot imitate a line of the client', () => {
  const lines = shown({ 'x\ny (text: 1 byte, 1 line)': 'a\ndigest 0\n[y] approve:', command: '' });
  expect(lines.slice(1, -1)).toEqual([
    '"x\\ny (text: 1 byte, 1 line)" (text: 23 bytes, 3 lines)',
    '│ a',
    '│ digest 0',
    '│ [y] approve:',
    'command (text: 0 bytes, 1 line)',
    '│ ',
  ]);
  expect(callLines({ ...named, name: 'a\nb\u200b', args: {}, digest })[0]).toBe(
    'a⟦U+000A⟧b⟦U+200B⟧, call c-1, session s-1',
  );
});

test('a long line is wrapped behind its own bar before the terminal wraps it', () => {
  expect(shown({ command: `${'x'.repeat(20)}世界` }, 22).slice(2, -4)).toEqual([
    'command (text: 26 byte',
    '┆ s, 1 line)',
    `│ ${'x'.repeat(20)}`,
    '┆ 世界',
  ]);
});

test('a terminal without a width has 80 columns', () => {
  expect(shown({ command: 'x'.repeat(100) }, 0)).toContain(`┆ ${'x'.repeat(22)}`);
});

/** The arguments, from the lines alone. */
const toldBack = (lines: readonly string[]): JsonObject => {
  const fields: [string, { isText: boolean; text: string }][] = [];
  for (const line of lines.join('\n').replaceAll('\n┆ ', '').split('\n').slice(1, -1)) {
    const [, name = '', kind] = /^(.*) \((text|JSON): \d+ bytes?, \d+ lines?\)$/u.exec(line) ?? [];
    const field = fields.at(-1)?.[1];
    if (line.startsWith('│ ') && field !== undefined) field.text += `\n${line.slice(2)}`;
    else if (kind !== undefined) fields.push([name, { isText: kind === 'text', text: '' }]);
  }
  const plain = (text: string): string =>
    text.replace(/⟦U\+([0-9A-F]{4,6})⟧/g, (_all, digits) =>
      String.fromCodePoint(Number.parseInt(digits, 16)),
    );
  return Object.fromEntries(
    fields.map(([name, { isText, text }]) => {
      const value = plain(text.slice(1));
      return [name.startsWith('"') ? JSON.parse(plain(name)) : name, isText ? value : JSON.parse(value)];
    }),
  );
};

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '\u200b',
    '⟦U+200B⟧',
    '│ x',
    '┆ ',
    '\r\n',
    '\u0301',
    'rm \u17d2',
    '\u3164'.repeat(30),
    'x'.repeat(200),
  ),
);

test('the arguments can be recovered from the shown text at any width', () => {
  const anyArgs = fc.dictionary(anyText, fc.oneof(anyText, fc.jsonValue()), { maxKeys: 5 });
  fc.assert(
    fc.property(
      anyArgs,
      fc.option(fc.integer({ min: 1, max: 120 }), { nil: undefined }),
      (given, columns) => {
        const args = JSON.parse(JSON.stringify(given));
        expect(toldBack(shown(args, columns))).toEqual(args);
      },
    ),
    { numRuns: 500 },
  );
});

const blanks =
  '\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u180e\u2000\u2007\u200a\u200b\u200c\u200d\u200e\u200f\u2028\u202e\u202f\u205f\u2060\u2064\u2066\u2069\u206f\u2800\u3000\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9\ufffc\u{1d159}\u{e0001}\u{e0020}\u{e0100}';

test.each([
  ['1 KB', { command: 'x'.repeat(1000) }],
  ['40 KB', { command: `echo safe; : ${'A'.repeat(40_000)} ; touch HIDDEN` }],
  ['1 MB', { content: `${'lorem ipsum\n'.repeat(90_000)}the end` }],
  ['9,000 short strings', { args: Array.from({ length: 9000 }, (_, index) => `a${index}`) }],
  ['marks that turn the direction', { command: 'rm \u202egpj.x\u202c \u200fa\u2067b\u2069' }],
  ['blanks of many kinds', { command: [...blanks].map((blank) => `rm${blank}x`).join('\n') }],
])('%s is shown whole', (_title, args) => {
  for (const columns of [undefined, 80]) {
    const lines = shown(args as JsonObject, columns);
    expect(toldBack(lines)).toEqual(args);
    if (columns !== undefined)
      expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(80);
  }
});

test('an effect shows where links point, permissions, and digests of what has no lines', () => {
  const effect = {
    files: [
      { path: 'l', change: 'modified', bytes: 0, type: 'symlink', typeBefore: 'file', target: '/etc/x\n' },
      { path: 'b', change: 'created', bytes: 9, type: 'file', mode: '755', sha256: 'ab'.repeat(32) },
      { path: 't', change: 'created', bytes: 2, type: 'file', sha256: 'cd'.repeat(32), diff: '+t' },
    ],
    ...{ exitCode: 0, output: '', hosts: [], durationMs: 1 },
  } satisfies Effect;
  const lines = callLines({ ...named, args: {}, digest, effect, effectDigest: 'e' });
  expect(lines.slice(4, -1)).toEqual([
    'modified l (0 bytes)',
    '│ a file, replaced by a link',
    '│ → /etc/x⟦U+000A⟧',
    'created b (9 bytes)',
    '│ permissions rwxr-xr-x',
    '│ SHA-256 abababababababab…',
    '│ No lines shown: binary or too long.',
    'created t (2 bytes)',
    '│ +t',
  ]);
});

test.each([
  [0, 'no file changes'],
  [57, '57 changed files, none of them listed'],
])('an effect that lists none of its %i files says so', (filesLeftOut, line) => {
  const effect = { files: [], filesLeftOut, exitCode: 0, output: '', hosts: [], durationMs: 1 };
  const lines = callLines({ ...named, args: {}, digest, effect, effectDigest: 'e' });
  expect(lines.slice(4, -1)).toEqual([line]);
});

test('an effect names what the call wanted to reach', () => {
  const hosts = ['models', 'platform', 'a.example:443'];
  const effect = { files: [], exitCode: 0, output: '', hosts, durationMs: 1 };
  const lines = callLines({ ...named, args: {}, digest, effect, effectDigest: 'e' });
  expect(lines).toContain(
    'wanted to reach models, tools of the platform, a.example:443: refused in the trial',
  );
});

test('a call in a list is cut to one line', () => {
  expect(callInShort({ name: 'execute_command', args: { command: 'a\nb' } })).toBe(
    'execute_command a⟦U+000A⟧b',
  );
  expect(callInShort({ name: 'f', args: { a: 1, b: 2 } })).toBe('f {"a":1,"b":2}');
  expect(callInShort({ name: 'f', args: { a: 'x'.repeat(100) } })).toBe(`f ${'x'.repeat(57)}…`);
});
