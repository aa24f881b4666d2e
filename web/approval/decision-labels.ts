/**
 * Labels of a decision: its decider, the calls that a grant covers, and the prefix that a grant suggests. Pure.
 *
 * A decider's name is shown and trusted for nothing; the rules of a prefix are those of shared/domain/turn/grant.ts.
 */

import type { JsonObject } from '#shared/domain/json.ts';
import type { deciderKinds } from '#shared/domain/principal.ts';
import { toolIdentity } from '#shared/domain/requested-call.ts';
import { type Grant, grantFor, hasPlainArguments, literalWords } from '#shared/domain/turn/grant.ts';
import { visibleText } from '#shared/domain/visible-text.ts';

type Decided = {
  readonly kind: (typeof deciderKinds)[number];
  readonly id: string;
  readonly name?: string | undefined;
};

const idCharacters = 8;

export const deciderLabel = ({ kind, id, name }: Decided): string => {
  const shortId = id.slice(0, idCharacters);
  const called = name === undefined ? undefined : visibleText(name);
  switch (kind) {
    case 'token':
      return called === undefined ? `by the token ${shortId}` : `by ${called} (token ${shortId})`;
    case 'person':
      return `by ${called ?? visibleText(id)}`;
    case 'grant':
      return `by the grant ${called ?? shortId}`;
    case 'policy':
      return id.startsWith('effect rule ') ? `by the ${visibleText(id)}` : `by the mode ${visibleText(id)}`;
  }
};

const suggestedWordsMax = 2;
const commandTool = 'execute_command';

/** True for a call that a prefix can cover: a command without a folder, variables or a life of its own. */
export const hasPrefix = (name: string, args: JsonObject): boolean =>
  name === commandTool && hasPlainArguments(args);

/** The first words of a command that is made of plain words; undefined for any other call. */
export const suggestedPrefix = (name: string, args: JsonObject): string | undefined => {
  if (!hasPrefix(name, args) || typeof args['command'] !== 'string') return undefined;
  const words = literalWords(args['command'])?.slice(0, suggestedWordsMax);
  return words === undefined || words.some((word) => /\s/.test(word) || word === '')
    ? undefined
    : words.join(' ');
};

/** The reason why these words do not cover the call itself; undefined when they do. */
export const prefixProblem = (
  prefix: string,
  call: { readonly name: string; readonly args: JsonObject },
): string | undefined => {
  if (prefix.trim() === '') return 'Enter the first words of the command.';
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
  return grantFor(call, [grant]) === undefined ? 'These words would not allow this command.' : undefined;
};

/** The calls that a grant allows. */
export const grantLabel = ({ tool, prefix }: Pick<Grant, 'tool' | 'prefix'>): string =>
  prefix === undefined ? `Every later ${tool} call` : `Commands beginning with ${prefix}`;
