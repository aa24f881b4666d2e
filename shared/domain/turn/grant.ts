/**
 * A grant: the calls that a person allowed for the rest of a session without being asked again.
 *
 * It covers every later call of one tool, or those commands that begin with given words. A command is read the strict
 * way: one that a shell would expand, redirect, join or substitute is not covered, nor is one with an environment, a
 * working folder, an input or a life of its own in the background. No grant covers input to a process.
 */

import type { Json } from '../json.ts';
import type { Decider } from '../principal.ts';
import { type RequestedCall, toolIdentity } from '../requested-call.ts';

export type Grant = {
  readonly id: string;
  /** The tool as the model names it. */
  readonly tool: string;
  /** By which a tool is told from another of the same name: `toolIdentity`. */
  readonly identity: string;
  /** The words a command begins with; absent: every call of the tool. */
  readonly prefix?: string;
  readonly by: Decider;
  /** Epoch milliseconds. */
  readonly at: number;
};

/** The grant that a decision asks for. */
export type Remember = 'session' | { readonly prefix: string };

export const prefixCharactersMax = 500;
/** More than a person reads in a list. */
export const grantsPerSessionMax = 100;

type Asked = Pick<RequestedCall, 'name' | 'args' | 'route'>;

/**
 * Input to a process that runs: a shell reads commands from it, so that a person is asked whatever is granted. A client sees
 * no route; no other tool has the name.
 */
export const isInput = ({ name, route, args: { action } }: Asked): boolean =>
  name === 'process' && (route === undefined || route.kind === 'platform') && action === 'input';

/** The grant that covers a call; undefined when a person has to be asked. */
export const grantFor = (call: Asked, grants: readonly Grant[]): Grant | undefined => {
  if (isInput(call)) return undefined;
  const identity = toolIdentity(call);
  return grants.find(
    (grant) =>
      grant.identity === identity && (grant.prefix === undefined || beginsWith(call.args, grant.prefix)),
  );
};

/** True if a tool's calls are commands: only they have prefixes. */
export const hasWords = ({ name, route }: Pick<Asked, 'name' | 'route'>): boolean =>
  route === undefined && name === 'execute_command';

/** Only a command line and its words: each other argument changes what the words mean. */
const plainArguments: readonly string[] = ['command', 'args', 'timeout'];

const beginsWith = (args: Asked['args'], prefix: string): boolean => {
  const wanted = literalWords(prefix);
  const given = wordsOf(args);
  return (
    wanted !== undefined &&
    wanted.length > 0 &&
    given !== undefined &&
    wanted.every((word, index) => word === given[index])
  );
};

/** True for a command that has no working folder, variables or life of its own. */
export const hasPlainArguments = (args: Asked['args']): boolean =>
  Object.entries(args).every(([name, value]) => plainArguments.includes(name) || isUnset(value));

const wordsOf = (args: Asked['args']): readonly string[] | undefined => {
  const { command, args: rest } = args;
  if (!hasPlainArguments(args) || typeof command !== 'string') return undefined;
  if (isUnset(rest)) return literalWords(command);
  return Array.isArray(rest) && rest.every((word) => typeof word === 'string')
    ? [command, ...rest]
    : undefined;
};

/** As the sandbox reads arguments: an empty one is absent. */
const isUnset = (value: Json | undefined): boolean =>
  value === undefined ||
  value === false ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0);

/**
 * A part of a word that a shell reads as it is written: plain characters, and quotes without substitutions. A tilde or a
 * number sign means something only where a word begins.
 * https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html
 */
const part = /(?:[^\s\p{Cc}\p{Z}|&;<>()$`\\*?[\]{}~!#'"]|(?<=[\w^~@])[~#]|'[^'\p{Cc}]*'|"[^"$`\\!\p{Cc}]*")/u
  .source;
const literalLine = new RegExp(`^[ \\t]*${part}+(?:[ \\t]+${part}+)*[ \\t]*$`, 'u');
const eachWord = new RegExp(`${part}+`, 'gu');
/** Before a command it sets a variable; behind one it may be read so by the command. */
const assignment = /^[A-Za-z_]\w*\+?=/;
const quoted = /'([^']*)'|"([^"]*)"/g;

/** The words of a line whose every word stands for itself; undefined for any other, and for an empty one. */
export const literalWords = (line: string): readonly string[] | undefined => {
  if (!literalLine.test(line)) return undefined;
  const words = line.match(eachWord) ?? [];
  if (words.some((word) => assignment.test(word))) return undefined;
  return words.map((word) =>
    word.replace(quoted, (_, single?: string, double?: string) => single ?? double ?? ''),
  );
};
