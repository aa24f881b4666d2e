/** A command of the program: how it is written, and what it does. Arguments are parsed by `node:util`. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import type { Sallyport } from '#sdk/sallyport.ts';
import { type CliFailure, wrongUsage } from './failure.ts';
import type { Host } from './host.ts';
import { nearest } from './nearest.ts';
import type { Output } from './output.ts';

export type Call = {
  readonly positionals: readonly string[];
  readonly text: (option: string) => string | undefined;
  readonly isSet: (option: string) => boolean;
  readonly list: (option: string) => readonly string[];
  readonly host: Host;
  readonly output: Output;
  /** The deployment of the settings or of the environment; refuses when there is no token. */
  readonly client: () => Promise<Sallyport>;
};

export type Command = {
  /** One word, or two: `token create`. */
  readonly name: string;
  /** What follows the name. */
  readonly usage: string;
  readonly summary: string;
  readonly details?: readonly string[];
  readonly options?: ParseArgsOptionsConfig;
  readonly positionals: { readonly min: number; readonly max: number };
  /** Gives the exit code; nothing is 0. */
  readonly run: (call: Call) => Promise<number | undefined>;
};

export const globalOptions = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsOptionsConfig;

export type Parsed = Pick<Call, 'positionals' | 'text' | 'isSet' | 'list'>;

export const parseCommand = (command: Command, args: readonly string[]): Parsed => {
  const options: ParseArgsOptionsConfig = { ...command.options, ...globalOptions };
  const { values, positionals } = parsed(command, { args, options });
  if (values['help'] !== true) checkPositionals(command, positionals);
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

const parsed = (
  command: Command,
  { args, options }: { readonly args: readonly string[]; readonly options: ParseArgsOptionsConfig },
) => {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (cause) {
    throw badOption(command, cause, Object.keys(options));
  }
};

const badOption = (command: Command, cause: unknown, options: readonly string[]): CliFailure => {
  const message = cause instanceof Error ? cause.message : String(cause);
  const [first = message] = message.split(/[.\n]/);
  const unknown = /Unknown option '--?([^']+)'/.exec(message)?.[1];
  const meant = unknown === undefined ? undefined : nearest(unknown, options);
  return wrongUsage(first, [
    ...(meant === undefined ? [] : [`Did you mean --${meant}?`]),
    ...(unknown !== undefined && command.usage.includes('-- ')
      ? ['Put `--` before the command to run.']
      : []),
    usageLine(command),
  ]);
};

const checkPositionals = (command: Command, given: readonly string[]): void => {
  const { min, max } = command.positionals;
  if (given.length < min) throw wrongUsage('an argument is missing', [usageLine(command)]);
  if (given.length > max) throw wrongUsage(`'${given[max]}' is one argument too many`, [usageLine(command)]);
};

export const usageLine = ({ name, usage }: Command): string => `Usage: sallyport ${name} ${usage}`.trimEnd();

/** A whole number of seconds and the like; anything else is wrong usage. */
export const wholeNumber = (text: string | undefined, option: string): number | undefined => {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw wrongUsage(`--${option} takes a whole number, not '${text}'`);
};

/** `k=v`, as often as given. */
export const pairs = (texts: readonly string[], option: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    texts.map((text) => {
      const [, key, value] = /^([^=]+)=([\s\S]*)$/.exec(text) ?? [];
      if (key === undefined || value === undefined)
        throw wrongUsage(`--${option} takes name=value, not '${text}'`);
      return [key, value];
    }),
  );

/** An object without what was not given. Its fields are those of the contract; the server judges their values. */
export const given = <T>(fields: { readonly [Field in keyof NoInfer<T>]?: unknown }): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
