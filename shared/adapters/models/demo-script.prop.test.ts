import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ScriptedCall, scriptedCalls } from './demo-script.ts';

const line = fc.string({ maxLength: 30 }).filter((text) => !/[\r\n]/.test(text));
const path = fc.stringMatching(/^[a-z0-9./_-]{1,12}$/);

const command = line.map((text) => ({
  written: `$ ${text}`,
  calls: [{ name: 'execute_command', args: { command: text } }],
}));
const read = path.map((file) => ({
  written: `read ${file}`,
  calls: [{ name: 'read_file', args: { path: file } }],
}));
const write = fc.tuple(path, line).map(([file, content]) => ({
  written: `write ${file} ${content}`,
  calls: [{ name: 'write_file', args: { path: file, content } }],
}));
const list = fc.option(path, { nil: undefined }).map((folder) => ({
  written: folder === undefined ? 'list' : `list ${folder}`,
  calls: [{ name: 'list_files', args: folder === undefined ? {} : { path: folder } }],
}));
const commandLike = fc.oneof(
  command.map(({ written }) => written),
  list.map(({ written }) => written),
  line,
);
const block = fc
  .tuple(
    fc.constantFrom('python', 'node', 'bash', ''),
    fc.array(
      commandLike.filter((text) => !text.startsWith('```')),
      { maxLength: 4 },
    ),
  )
  .map(([language, code]) => ({
    written: ['```'.concat(language), ...code, '```'].join('\n'),
    calls:
      language === 'python' || language === 'node'
        ? [{ name: 'execute_code', args: { code: code.join('\n'), language } }]
        : [],
  }));
const prose = line
  .filter((text) => !/^(\$ |read|write|list|`{3})/.test(text))
  .map((written) => ({ written, calls: [] }));

test('every part of a message gives its own calls, in the order of the message', () => {
  const parts: fc.Arbitrary<{ written: string; calls: ScriptedCall[] }[]> = fc.array(
    fc.oneof(command, read, write, list, block, prose),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(parts, fc.constantFrom('\n', '\r\n'), (written, newline) => {
      const message = written.map((part) => part.written.replaceAll('\n', newline)).join(newline);
      expect(scriptedCalls(message)).toEqual(written.flatMap((part) => part.calls));
    }),
  );
});

test('any text can be parsed', () => {
  const anything = fc.array(
    fc.oneof(fc.string({ unit: 'binary', maxLength: 8 }), fc.constantFrom('```', '\n', '$ ', 'write ')),
  );
  fc.assert(
    fc.property(anything, (pieces) => {
      const text = pieces.join('');
      for (const { args } of scriptedCalls(text))
        for (const value of Object.values(args)) expect(text.split('\r\n').join('\n')).toContain(value);
    }),
  );
});
