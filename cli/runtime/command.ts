/** A command of the program: its name, usage and action, the parsing of its arguments and the layout of its usage. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import type { Sallyport } from '#sdk/sallyport.ts';
import { type CliFailure, wrongUsage } from './failure.ts';
import type { Host } from './host.ts';
import type { Output } from './output.ts';

export type Call = {
  readonly positionals: readonly string[];
  readonly text: (option: string) => string | undefined;
  readonly isSet: (option: string) => boolean;
  readonly list: (option: string) => readonly string[];
  readonly host: Host;
  readonly output: Output;
  /** The deployment of the settings or of the environment; throws when there is no token. */
  readonly client: () => Promise<Sallyport>;
  /** One request with that client. */
  readonly request: Sallyport['request'];
};

export type Command = {
  /** One word, or two: `token create`. */
  readonly name: string;
  /** The arguments after the name. */
  readonly usage: string;
  readonly summary: string;
  readonly details?: readonly string[];
  readonly options?: ParseArgsOptionsConfig;
  readonly positionals: Positionals;
  /** Returns the exit code; undefined is 0. */
  readonly run: (call: Call) => Promise<number | undefined>;
};

/** The number of arguments of a command, and what the first ones are. */
export type Positionals = {
  readonly min: number;
  readonly max: number;
  /** The first ones name a thing, each as the usage calls it: an empty one is refused. */
  readonly names?: readonly string[];
  /** So many of the first ones are ids of sessions, of which the first characters are enough. */
  readonly sessions?: number;
};

export const globalOptions = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsOptionsConfig;

/** Options with a value, with repeated values, and without. */
export const value = { type: 'string' } as const;
export const values = { type: 'string', multiple: true } as const;
export const flag = { type: 'boolean' } as const;

/** Numbers of arguments. */
export const none = { min: 0, max: 0 };
export const one = { min: 1, max: 1 };
export const oneId = { ...one, names: ['id'] };
export const oneName = { ...one, names: ['name'] };
export const oneSession = { ...one, names: ['session'], sessions: 1 };
/** In a group of commands that are all about sessions. */
export const oneSessionId = { ...oneId, sessions: 1 };
/** A path or a port in a session, which is judged by the server. */
export const sessionAndPath = { min: 2, max: 2, names: ['session'], sessions: 1 };

/** The first argument, and the request about the thing with this id. */
export const idOf = ({ positionals }: Call): string => positionals[0] ?? '';
export const byId = (call: Call) => ({ params: { id: idOf(call) } });

/** Of a deletion. One whose answer was lost is found done when it is asked for again, and then has no answer: its name stands for it. */
export const deleted = <Answer, Named extends object>(answer: Answer, named: Named): Answer | Named =>
  answer ?? named;

/** A command that lists: its group's name alone does the same. */
export const listing = (group: string, command: Omit<Command, 'name'>): readonly Command[] => [
  { name: group, ...command },
  { name: `${group} list`, ...command },
];

/** Options of the form `key:value` or `NAME=value` as a map. */
export const pairsOf = (
  texts: readonly string[],
  sign: ':' | '=',
  option: string,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(sign);
      if (at < 1) throw wrongUsage(`--${option} has the form ${sign === ':' ? 'key:value' : 'NAME=value'}`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );

export type Parsed = Pick<Call, 'positionals' | 'text' | 'isSet' | 'list'>;

/** `all` are the commands of the program: an option may be one of another command. */
export const parseCommand = (
  command: Command,
  args: readonly string[],
  all: readonly Command[] = [],
): Parsed => {
  const options: ParseArgsOptionsConfig = { ...command.options, ...globalOptions };
  const { values, positionals } = parsed(command, { args, options, all });
  if (values['help'] !== true) {
    checkPositionals(command, positionals);
    checkNames(command, { values, positionals });
  }
  return {
    positionals,
    text: (option) => {
      const value = values[option];
      return typeof value === 'string' ? value : undefined;
    },
    isSet: (option) => values[option] === true,
    list: (option) => {
      const value = values[option];
      return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
    },
  };
};

const parsed = (command: Command, { args, options, all }: Parsing) => {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (cause) {
    throw badOption(command, cause, { options: Object.keys(options), all });
  }
};

type Parsing = {
  readonly args: readonly string[];
  readonly options: ParseArgsOptionsConfig;
  readonly all: readonly Command[];
};
type Known = { readonly options: readonly string[]; readonly all: readonly Command[] };

const badOption = (command: Command, cause: unknown, { options, all }: Known): CliFailure => {
  const message = cause instanceof Error ? cause.message : String(cause);
  const [first = message] = message.split(/[.\n]/);
  const unknown = /Unknown option '--?([^']+)'/.exec(message)?.[1];
  const suggestion = unknown === undefined ? undefined : nearest(unknown, options);
  const elsewhere =
    unknown === undefined || suggestion !== undefined ? [] : placeAdvice(command, unknown, all);
  const isCommandToRun = command.usage.includes('-- ');
  return wrongUsage(first, [
    ...(suggestion === undefined ? [] : [`Did you mean --${suggestion}?`]),
    ...elsewhere,
    ...(elsewhere.length > 0 && !isCommandToRun ? [] : dashAdvice(command, message, unknown)),
    usageLine(command),
  ]);
};

const takersMax = 3;

/** The place of an option that this command has not: an argument of it, or another command, its own group first. */
const placeAdvice = (command: Command, unknown: string, all: readonly Command[]): readonly string[] => {
  if (command.usage.includes(`<${unknown}>`))
    return [`<${unknown}> is an argument: write it without --${unknown}.`];
  const [group = ''] = command.name.split(' ');
  const isNear = ({ name }: Command): boolean => name.startsWith(`${group} `);
  const takers = all.filter(({ options }) => options?.[unknown] !== undefined);
  const named = [...takers.filter(isNear), ...takers.filter((one) => !isNear(one))]
    .slice(0, takersMax)
    .map(({ name }) => `\`sallyport ${name}\``);
  return named.length === 0 ? [] : [`--${unknown} is an option of ${named.join(', ')}.`];
};

/** A value or an argument may begin with a dash, where it says so. */
const dashAdvice = (command: Command, message: string, unknown: string | undefined): readonly string[] => {
  const [, ambiguous] = /Option '(?:-\w, )?(--[\w-]+)[^']*' argument is ambiguous/.exec(message) ?? [];
  if (ambiguous !== undefined) return [`A value that begins with a dash is written ${ambiguous}=<value>.`];
  if (unknown === undefined) return [];
  if (command.usage.includes('-- ')) return ['Put `--` before the command to run.'];
  return command.positionals.max === 0 ? [] : ['Put `--` before arguments of which one begins with a dash.'];
};

const checkPositionals = (command: Command, given: readonly string[]): void => {
  const { min, max } = command.positionals;
  if (given.length < min) throw wrongUsage('an argument is missing', [usageLine(command)]);
  if (given.length > max) throw wrongUsage(`unexpected argument '${given[max]}'`, [usageLine(command)]);
};

/** Options whose value names or chooses one thing of many: an empty one would be as if the option was absent. */
const namingOptions = [
  ...['session', 'project', 'workspace', 'attach', 'context'],
  ...['label', 'status', 'digest', 'effect'],
];

/** A variable that a script did not set leaves an empty argument, which must not stand for all things, or for a new one. */
const checkNames = (
  command: Command,
  {
    values,
    positionals,
  }: { readonly values: Readonly<Record<string, unknown>>; readonly positionals: readonly string[] },
): void => {
  const option = namingOptions.find((name) => [values[name]].flat().includes(''));
  if (option !== undefined) throw wrongUsage(`--${option} is empty`, [usageLine(command)]);
  const name = command.positionals.names?.find((_, at) => positionals[at] === '');
  if (name !== undefined) throw wrongUsage(`<${name}> is empty`, [usageLine(command)]);
};

export const usageLine = ({ name, usage }: Command): string => `Usage: sallyport ${name} ${usage}`.trimEnd();

/** Reads a whole number of an option, or of an `<argument>`; anything else is wrong usage. */
export const wholeNumber = (text: string | undefined, name: string): number | undefined => {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw wrongUsage(`${name.startsWith('<') ? '' : '--'}${name} must be a whole number, not '${text}'`);
};

const unitSeconds = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** A time such as `90d`, `12h`, `30m` or `60s`, in seconds; a number alone is one of seconds. */
export const seconds = (text: string | undefined, option: string): number | undefined => {
  if (text === undefined) return undefined;
  const [, count, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * unitSeconds[unit as keyof typeof unitSeconds];
  throw wrongUsage(`--${option} must be a time such as 90d, 12h or 60 (seconds), not '${text}'`);
};

export const dollars = (text: string | undefined, option: string): number | undefined => {
  if (text === undefined) return undefined;
  if (/^\d{1,6}(?:\.\d{1,6})?$/.test(text)) return Number(text);
  throw wrongUsage(`--${option} must be a sum in US dollars such as 2.50, not '${text}'`);
};

/** An object without what was not given. Its fields are those of the contract; the server judges their values. */
export const given = <T>(fields: { readonly [Field in keyof NoInfer<T>]?: unknown }): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

const editsMax = 3;

const editDistance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (const [column, other] of Array.from(to).entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
};

/** Words of one meaning, also those of other clients: by its letters alone, `show` is nearest to `stop`. */
const synonyms: readonly (readonly string[])[] = [
  ['get', 'info', 'show', 'describe'],
  ['list', 'ls', 'ps', 'sessions'],
  ['delete', 'remove', 'revoke', 'rm', 'stop', 'kill'],
  ['create', 'add', 'new'],
  ['update', 'edit'],
  ['exec', 'run'],
  ['shell', 'ssh', 'connect', 'console'],
  ['events', 'logs'],
  ['preview', 'open', 'url', 'port'],
  ['files', 'cp'],
];

/** The candidate of the same meaning, or the one with the fewest edits, if it is near enough to be a typing error. */
export const nearest = (word: string, candidates: readonly string[]): string | undefined => {
  const meant = synonyms.find((words) => words.includes(word)) ?? [];
  const same = meant.find((other) => candidates.includes(other));
  if (same !== undefined) return same;
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: editDistance(word, candidate) }))
    .toSorted((one, other) => one.edits - other.edits);
  const [best] = ranked;
  const isNear = best !== undefined && best.edits <= Math.min(editsMax, Math.ceil(best.candidate.length / 2));
  return isNear ? best.candidate : undefined;
};

const columnsMax = 96;
const indent = '    ';

/** Breaks a usage into lines before an option or an alternative, never between an option and its value. */
export const usageLines = (usage: string): readonly string[] => {
  const [first = '', ...parts] = usage.split(/(?<!\|) (?=\[|\(|\||--)/);
  const lines: string[] = [];
  let line = first;
  for (const part of parts) {
    const longer = `${line} ${part}`;
    if (longer.length > columnsMax) lines.push(line);
    line = longer.length > columnsMax ? `${indent}${part}` : longer;
  }
  return [...lines, line];
};
