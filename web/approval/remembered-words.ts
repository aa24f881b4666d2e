/**
 * The meaning of "always" for a call: every later call of its tool, or those commands that begin with given words.
 * Pure; the rules of a prefix are those of shared/domain/turn/grant.ts.
 */
import { toolIdentity } from '#shared/domain/asked-call.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { type Grant, grantFor, literalWords } from '#shared/domain/turn/grant.ts';

const suggestedWordsMax = 2;
const commandTool = 'execute_command';

/** The first words of a command that is made of plain words; undefined for any other call. */
export const suggestedPrefix = (name: string, args: JsonObject): string | undefined => {
  if (name !== commandTool || typeof args['command'] !== 'string') return undefined;
  const words = literalWords(args['command'])?.slice(0, suggestedWordsMax);
  return words === undefined || words.some((word) => /\s/.test(word) || word === '')
    ? undefined
    : words.join(' ');
};

/** Why these words would not do for this very call; undefined when they would. */
export const prefixProblem = (
  prefix: string,
  call: { readonly name: string; readonly args: JsonObject },
): string | undefined => {
  if (prefix.trim() === '') return 'Write the first words of the command.';
  if (literalWords(prefix) === undefined)
    return 'Plain words only: nothing that a shell would expand, join or redirect.';
  const grant: Grant = {
    id: '',
    tool: call.name,
    identity: toolIdentity(call),
    prefix,
    by: { kind: 'token', id: '' },
    at: 0,
  };
  return grantFor(call, [grant]) === undefined
    ? 'This command would not be allowed by these words.'
    : undefined;
};

/** The calls that a grant allows, as a person reads it. */
export const grantWords = ({ tool, prefix }: Pick<Grant, 'tool' | 'prefix'>): string =>
  prefix === undefined ? `Every later ${tool} call` : `Commands beginning with ${prefix}`;
