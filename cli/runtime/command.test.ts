import { expect, test } from 'vitest';
import { commands } from '../program.ts';
import { nearest, seconds, usageLines } from './command.ts';

test.each([
  ['sesions', 'sessions'],
  ['chta', 'chat'],
  ['mpc', 'mcp'],
  ['banana', undefined],
  ['ps', 'sessions'],
  ['run', 'exec'],
])('%s is interpreted as %s', (word, meant) => {
  expect(nearest(word, ['chat', 'sessions', 'mcp', 'exec'])).toBe(meant);
});

test.each([
  ['show', 'get'],
  ['rm', 'delete'],
  ['kill', 'delete'],
  ['stpo', 'stop'],
])('%s among the words of sessions is interpreted as %s', (word, meant) => {
  expect(nearest(word, ['create', 'list', 'get', 'stop', 'delete'])).toBe(meant);
});

test('a command that removes is meant by the word of another one', () => {
  const wordsFor = (group: string) =>
    commands.flatMap(({ name }) => name.split(' ').slice(name.startsWith(group) ? 1 : 2));
  for (const word of ['delete', 'rm', 'kill'])
    expect(['mcp', 'token', 'sessions'].map((group) => nearest(word, wordsFor(group)))).toEqual([
      ...['remove', 'revoke', 'stop'],
    ]);
});

test('a time has a unit, or is one of seconds', () => {
  const read = (text: string) => seconds(text, 'expires');
  expect(['90d', '12h', '30m', '60s', '60'].map(read)).toEqual([7_776_000, 43_200, 1800, 60, 60]);
  expect(seconds(undefined, 'expires')).toBe(undefined);
  for (const text of ['', 'd', '1.5h', '-1', '3w']) expect(() => read(text)).toThrow('a time such as 90d');
});

test('a short usage is one line', () => {
  expect(usageLines('sallyport stop <id…>')).toEqual(['sallyport stop <id…>']);
});

test('a long one is wrapped before an option, with its value beside it', () => {
  const long = `do ${'[--option <a value>] '.repeat(6)}(--one <text or -> | -- <command…>)`;
  expect(usageLines(long)).toEqual([
    'do [--option <a value>] [--option <a value>] [--option <a value>] [--option <a value>]',
    '    [--option <a value>] [--option <a value>] (--one <text or -> | -- <command…>)',
  ]);
});

test('no command is wider than a terminal, and none loses a word', () => {
  for (const { name, usage } of commands) {
    const lines = usageLines(`${name} ${usage}`);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
    expect(lines.map((line) => line.trim()).join(' ')).toBe(`${name} ${usage}`.trim());
  }
});

/** The words of a usage that stand for an id or a name: the first ones of it. */
const namingWords = (usage: string): readonly string[] => {
  const [leading = ''] = /^[<[][^>\]-]+[>\]](?: <[^>]+>)*/.exec(usage) ?? [];
  const words = Array.from(leading.matchAll(/[<[]([^>\]]+)/g), ([, word = '']) => word);
  const others = words.findIndex((word) => !/\b(?:id|name|session|call|grant|snapshot)\b/.test(word));
  return others < 0 ? words : words.slice(0, others);
};

test.each(commands)(
  '$name refuses an empty argument that names a thing, as its usage calls it',
  (command) => {
    const { max, names = [], sessions = 0 } = command.positionals;
    const words = namingWords(command.usage);
    const last = words.at(-1);
    const wanted = last?.endsWith('…') === true ? Array.from({ length: max }, () => last) : words;
    expect(names).toEqual(wanted);
    // Where a session is named by the word `id`, the command is one of sessions.
    const isOfSessions = /^(?:sessions|events|stop|resume)\b/.test(command.name);
    const ofSession = wanted.filter((word) => word === 'session' || (isOfSessions && /^id/.test(word)));
    expect(sessions).toBe(ofSession.length);
  },
);
