/** The command lines of documents against the commands of the program: every command and every option that is shown exists. */
import { expect, test } from 'vitest';
import { commands } from '../../cli/program.ts';
import { globalOptions } from '../../cli/runtime/command.ts';
import { type RepositoryFile, readRepository, repositoryFolder } from './repository.ts';

const documents = readRepository(repositoryFolder).filter(
  ({ path }) => path.endsWith('.md') && !/^(?:CHANGELOG|docs\/adr\/)/.test(path),
);

/** Blocks of code, where a line may go on in the next one, and code in a sentence; words in quotes are another program's. */
const codeOf = ({ text }: Pick<RepositoryFile, 'text'>): readonly string[] => {
  const blocks = Array.from(text.matchAll(/^```(?:sh|bash|console)\n(.*?)^```/gms), ([, code = '']) => code);
  const sentences = Array.from(text.matchAll(/(?<!`)`([^`\n]+)`(?!`)/g), ([, code = '']) => code);
  return [...blocks, ...sentences].map((code) => code.replaceAll('\\\n', ' ').replaceAll(/'[^'\n]*'/g, "''"));
};

const commandLine =
  /(?:^|\bnpx |[$("] ?|&& |\| )sallyport (?!help\b)([a-z-]+(?: [a-z][a-z-]*)?)([^\n;&|)]*)/gm;
const option = /(?<![\w-])--([a-z][a-z-]*)/g;

/** The command of the words, as the program finds it: a name of two words before one of one, whose second is an argument. */
const commandOf = (words: string) => {
  const [first, second] = words.split(' ');
  const short = commands.find(({ name }) => name === first);
  const takesSecond = second === undefined || (short !== undefined && short.positionals.max > 0);
  return commands.find(({ name }) => name === words) ?? (takesSecond ? short : undefined);
};

const complaintsOf = (files: readonly Pick<RepositoryFile, 'path' | 'text'>[]): readonly string[] =>
  files.flatMap((file) =>
    codeOf(file)
      .flatMap((code) => Array.from(code.matchAll(commandLine)))
      .flatMap(([, words = '', rest = '']) => {
        const command = commandOf(words);
        if (commands.some(({ name }) => command === undefined && name.startsWith(`${words} `))) return [];
        if (command === undefined) return [`${file.path} shows the command ${words}, which is not there`];
        const own = rest.split(' -- ')[0] ?? '';
        const known = { ...command.options, ...globalOptions };
        return Array.from(own.matchAll(option), ([, name = '']) => name)
          .filter((name) => !(name in known))
          .map((name) => `${file.path} shows ${command.name} with --${name}, which it has not`);
      }),
  );

test('every command line of a document names a command and its options', () => {
  expect(complaintsOf(documents)).toEqual([]);
});

const pages = documents.filter(({ path }) => path.startsWith('docs/'));

/** By its name alone: the page of a command shows it, or one of another command with the same. */
const untoldIn = (texts: readonly string[]): readonly string[] => {
  const known = new Set(texts.flatMap((text) => Array.from(text.matchAll(option), ([, name = '']) => name)));
  return commands.flatMap(({ name, options = {} }) =>
    Object.keys(options)
      .filter((word) => !known.has(word))
      .map((word) => `${name} --${word}`),
  );
};

test('every option of a command is on a page', () => {
  expect(untoldIn(pages.map(({ text }) => text))).toEqual([]);
});

test('an option that no page has is found', () => {
  const texts = pages.map(({ text }) => text.replaceAll('--disabled', ''));
  expect(untoldIn(texts)).toEqual(['schedules create --disabled']);
});

test('a command and an option that do not exist are found', () => {
  const text = [
    '`sallyport token mint`, `sallyport exec --session <id> -- ls --all`, `the folder of sallyport`',
    '```sh',
    'SESSION=$(npx sallyport sessions create --aprovals low)',
    "npx sallyport exec 'pip install --upgrade it' \\",
    '  --now',
    '```',
  ].join('\n');
  expect(complaintsOf([{ path: 'page.md', text }])).toEqual([
    'page.md shows sessions create with --aprovals, which it has not',
    'page.md shows exec with --now, which it has not',
    'page.md shows the command token mint, which is not there',
  ]);
});
