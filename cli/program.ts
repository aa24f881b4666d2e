/** Finds the command of an argument list, runs it, and turns whatever happens into an exit code. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeClient } from './client.ts';
import { type Call, type Command, parseCommand, usageLine } from './command.ts';
import { commands } from './command-list.ts';
import { requireDeployment } from './deployment.ts';
import { toFailure, wrongUsage } from './failure.ts';
import type { Host } from './host.ts';
import { nearest } from './nearest.ts';
import { makeOutput, type Output } from './output.ts';
import { usageLines } from './usage-lines.ts';

export const runProgram = async (args: readonly string[], host: Host): Promise<number> => {
  const output = makeOutput(host, isJsonWanted(args));
  try {
    return await dispatch(args, host, output);
  } catch (error) {
    const { body, exitCode } = toFailure(error);
    output.failure(body);
    return exitCode;
  }
};

/** Even a command line that cannot be parsed answers in the form it asked for; behind `--` nothing is ours. */
const isJsonWanted = (args: readonly string[]): boolean => {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).includes('--json');
};

const dispatch = async (args: readonly string[], host: Host, output: Output): Promise<number> => {
  const { flags, words } = leadingFlags(args);
  if (flags.includes('--version') || flags.includes('-v')) return printVersion(output);
  const [first] = words;
  if (first === 'version') return printVersion(output);
  if (first === undefined || first === 'help') return printHelp(words.slice(1), output);
  const { command, rest } = findCommand(words);
  if (flags.includes('--help') || flags.includes('-h')) return printCommandHelp(command, output);
  const parsed = parseCommand(command, [...flags, ...rest.args]);
  if (parsed.isSet('help')) return printCommandHelp(command, output);
  const call: Call = {
    ...parsed,
    host,
    output,
    client: async () => makeClient(await requireDeployment(host)),
  };
  return (await command.run(call)) ?? 0;
};

const programFlags = new Set(['--json', '--help', '-h', '--version', '-v']);

const leadingFlags = (args: readonly string[]) => {
  const place = args.findIndex((arg) => !programFlags.has(arg));
  const end = place < 0 ? args.length : place;
  return { flags: args.slice(0, end), words: args.slice(end) };
};

/** Two words before one: `token create` is not `token` with an argument. */
const findCommand = (words: readonly string[]) => {
  const [first = '', second = ''] = words;
  const long = commands.find(({ name }) => name === `${first} ${second}`);
  if (long !== undefined) return { command: long, rest: { args: words.slice(2) } };
  const family = commands.filter(({ name }) => name.startsWith(`${first} `));
  const short = commands.find(({ name }) => name === first);
  const isWord = second !== '' && !second.startsWith('-');
  const takesWord = short !== undefined && short.positionals.max > 0 && !isNearPart(first, second, family);
  if (family.length > 0 && (short === undefined || (isWord && !takesWord)))
    throw noSuchPart(first, second, family);
  if (short !== undefined) return { command: short, rest: { args: words.slice(1) } };
  throw noSuchCommand(first);
};

const partsOf = (first: string, family: readonly Command[]): readonly string[] =>
  family.map(({ name }) => name.slice(first.length + 1));

/** An argument that looks like a mistyped part is taken for that: `grants withdrw`. */
const isNearPart = (first: string, second: string, family: readonly Command[]): boolean =>
  nearest(second, partsOf(first, family)) !== undefined;

const noSuchPart = (first: string, second: string, family: readonly Command[]) => {
  const parts = partsOf(first, family);
  const meant = nearest(second, parts);
  return wrongUsage(
    second === '' || second.startsWith('-')
      ? `'${first}' needs a word more`
      : `there is no command '${first} ${second}'`,
    [
      ...(meant === undefined || second === '' ? [] : [`Did you mean \`sallyport ${first} ${meant}\`?`]),
      `There are: ${parts.map((part) => `${first} ${part}`).join(', ')}.`,
    ],
  );
};

const noSuchCommand = (word: string) => {
  if (word.startsWith('-'))
    return wrongUsage(`'${word}' is no option here`, ['Run `sallyport help` for the commands.']);
  const meant = nearest(word, [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? name)), 'help']);
  return wrongUsage(`there is no command '${word}'`, [
    ...(meant === undefined ? [] : [`Did you mean \`sallyport ${meant}\`?`]),
    'Run `sallyport help` for all commands.',
  ]);
};

const printVersion = async (output: Output): Promise<number> => {
  const text = await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { readonly version: string };
  output.result({ version }, () => [version]);
  return 0;
};

const printHelp = (words: readonly string[], output: Output): number => {
  if (words[0] !== undefined && !words[0].startsWith('-')) {
    const family = commands.filter(({ name }) => name === words[0] || name.startsWith(`${words[0]} `));
    const exact = family.find(({ name }) => name === words.join(' '));
    if (exact !== undefined && (family.length === 1 || words.length > 1))
      return printCommandHelp(exact, output);
    if (family.length === 0) throw noSuchCommand(words[0]);
    output.result(family.map(described), () => overview(family));
    return 0;
  }
  output.result(commands.map(described), () => [
    'sallyport: agents with tools in isolated sandboxes, from a terminal.',
    '',
    'Usage: sallyport <command> [arguments]',
    '',
    ...overview(commands),
    '',
    'Everywhere: --json prints JSON for programs, --help explains a command, --version.',
    'SALLYPORT_URL and SALLYPORT_TOKEN stand for what `login` stores.',
    'Exit codes: 0 done, 1 an error, 2 wrong usage; `exec` gives the one of the program it ran.',
  ]);
  return 0;
};

const described = ({ name, usage, summary }: Command) => ({ name, usage, summary });

/** `sessions` and `sessions list` are one command: it is shown once. */
const overview = (all: readonly Command[]): readonly string[] => {
  const listed = all.filter(({ name }) => !name.endsWith(' list'));
  const width = Math.max(...listed.map(({ name }) => name.length));
  return listed.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
};

/** Who asks how `mcp` is used means all that begins with it. */
const siblings = ({ name }: Command): readonly string[] => {
  const others = commands.filter(
    (other) => other.name.startsWith(`${name} `) && other.name !== `${name} list`,
  );
  return others.length === 0 ? [] : ['', 'And:', ...overview(others)];
};

const printCommandHelp = (command: Command, output: Output): number => {
  output.result(described(command), () => [
    `${command.summary}.`,
    '',
    ...usageLines(usageLine(command)),
    ...(command.details === undefined ? [] : ['', ...command.details]),
    ...siblings(command),
  ]);
  return 0;
};
