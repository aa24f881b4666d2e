/**
 * The optional fields of a server's configuration, each with what is allowed: decided field by field, with the
 * first problem reported. Values that could end a header early, or set a header of the connection itself, are
 * refused.
 */

import { isPlainName, plainNameRule } from '../plain-name.ts';
import {
  mcpCallMsMax,
  mcpCallMsMin,
  mcpEntriesMax,
  mcpEntryCharactersMax,
  mcpEntryNameCharactersMax,
  mcpTextCharactersMax,
  toolPrefixCharactersMax,
} from './limits.ts';
import { isWellFormed } from './template.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The text shown for a masked value: sent back, it would overwrite the value with its own mask. */
export const mask = '***';

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isText = (value: unknown, charactersMax: number): value is string =>
  typeof value === 'string' && value.length <= charactersMax && !value.includes('\0');

type Check = (value: unknown) => string | undefined;

const text =
  (name: string, charactersMax: number): Check =>
  (value) =>
    isText(value, charactersMax)
      ? undefined
      : `${name} must be a text of at most ${charactersMax} characters`;

const description: Check = (value) =>
  text('description', mcpTextCharactersMax)(value) ??
  (isPlainName(String(value)) ? undefined : `description ${plainNameRule}`);

const toolPrefix: Check = (value) =>
  typeof value === 'string' && value.length <= toolPrefixCharactersMax && /^[A-Za-z0-9_-]+$/.test(value)
    ? undefined
    : `toolPrefix must be 1 to ${toolPrefixCharactersMax} letters, numbers, hyphens and underscores`;

const timeout: Check = (value) =>
  Number.isInteger(value) && Number(value) >= mcpCallMsMin && Number(value) <= mcpCallMsMax
    ? undefined
    : `timeout must be a whole number of milliseconds from ${mcpCallMsMin} to ${mcpCallMsMax}`;

const enabled: Check = (value) => (typeof value === 'boolean' ? undefined : 'enabled must be true or false');

const args: Check = (value) =>
  Array.isArray(value) &&
  value.length <= mcpEntriesMax &&
  value.every((one) => isText(one, mcpEntryCharactersMax))
    ? undefined
    : `args must be at most ${mcpEntriesMax} texts of at most ${mcpEntryCharactersMax} characters`;

type EntryRule = {
  readonly name: RegExp;
  readonly value: RegExp;
  readonly isRefused: (name: string) => boolean;
  /** True when `A` and `a` are one name. */
  readonly ignoresCase: boolean;
};

const entries =
  (field: string, rule: EntryRule): Check =>
  (value) => {
    if (!isObject(value)) return `${field} must be an object of texts`;
    const all = Object.entries(value);
    if (all.length > mcpEntriesMax) return `${field} may have at most ${mcpEntriesMax} entries`;
    const names = all.map(([name]) => (rule.ignoresCase ? name.toLowerCase() : name));
    const twice = names.find((name, index) => names.indexOf(name) < index);
    if (twice !== undefined) return `${field}.${twice} is given twice`;
    return all.map(([name, entry]) => entryProblem(field, { name, entry }, rule)).find(Boolean);
  };

const entryProblem = (
  field: string,
  { name, entry }: { readonly name: string; readonly entry: unknown },
  rule: EntryRule,
): string | undefined => {
  if (name.length > mcpEntryNameCharactersMax || name === '__proto__' || !rule.name.test(name))
    return `${field} has a name that is not allowed`;
  if (rule.isRefused(name)) return `${field}.${name} is set by the connection itself`;
  if (!isText(entry, mcpEntryCharactersMax) || !rule.value.test(entry))
    return `${field}.${name} must be a text of at most ${mcpEntryCharactersMax} characters without line breaks`;
  if (entry === mask) return `${field}.${name} is a masked value: give the value itself, or leave it out`;
  if (!isWellFormed(entry)) return `${field}.${name}: \${ must be followed by the name of a secret and }`;
  return undefined;
};

/** Headers of the hop (https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1), or of the request that carries them. */
const refusedHeader =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect)$/i;

const headers = entries('headers', {
  // https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2
  name: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
  value: /^[\t\x20-\x7e\x80-\xff]*$/,
  isRefused: (name) => refusedHeader.test(name),
  ignoresCase: true,
});

const env = entries('env', {
  name: /^[A-Za-z_][A-Za-z0-9_]*$/,
  value: /^[^\r\n]*$/,
  isRefused: () => false,
  ignoresCase: false,
});

const common: Readonly<Record<string, Check>> = {
  enabled,
  description,
  toolPrefix,
  timeout,
};
const remote = { ...common, headers };
const stdio = { ...common, args, env, cwd: text('cwd', mcpTextCharactersMax) };

/** The given fields of one transport; other names are not read. */
export const pickFields = (
  given: Fields,
  transport: 'http' | 'sse' | 'stdio',
): { readonly problem: string } | { readonly fields: Fields } => {
  const checks: Readonly<Record<string, Check>> = transport === 'stdio' ? stdio : remote;
  const known = Object.keys(checks).filter((name) => Object.hasOwn(given, name));
  const problem = known.map((name) => checks[name]?.(given[name])).find((one) => one !== undefined);
  if (problem !== undefined) return { problem };
  return { fields: Object.fromEntries(known.map((name) => [name, given[name]])) };
};
