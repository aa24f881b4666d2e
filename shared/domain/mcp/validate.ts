/**
 * The validation of an MCP server's name and configuration: the first thing that is wrong, in a fixed order and
 * wording, or the server as it is stored. Values that could end a header early, or set a header of the connection itself,
 * are refused. The address behind a URL is not checked here.
 */
import { utf8Bytes } from '../text.ts';
import { isPlainName, plainNameRule } from '../visible-text.ts';
import {
  mcpCallMsMax,
  mcpCallMsMin,
  mcpConfigBytesMax,
  mcpEntriesMax,
  mcpEntryCharactersMax,
  mcpEntryNameCharactersMax,
  mcpNameCharactersMax,
  mcpTextCharactersMax,
  toolPrefixCharactersMax,
} from './limits.ts';
import { isWellFormed, mask } from './secrets.ts';
import { type McpServerConfig, mcpTransports } from './server.ts';

export type Kept = { readonly config: McpServerConfig; readonly isEnabled: boolean };
export type Validated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

type Refused = { readonly ok: false; readonly problem: string };
const refused = (problem: string): Refused => ({ ok: false, problem });

/** True when a server can have the name at all. */
export const isServerName = (name: string): boolean =>
  /^[A-Za-z0-9_-]+$/.test(name) && name.length <= mcpNameCharactersMax;

export const validateServer = (
  name: unknown,
  config: unknown,
): Validated<Kept & { readonly name: string }> => {
  if (typeof name !== 'string' || name === '') return refused('Name is required and must be a string');
  if (!isObject(config)) return refused('Config is required and must be an object');
  if (!/^[A-Za-z0-9_-]+$/.test(name))
    return refused('Name can only contain letters, numbers, hyphens, and underscores');
  if (name.length > mcpNameCharactersMax)
    return refused(`Name can have at most ${mcpNameCharactersMax} characters`);
  const kept = validateConfig(config);
  return kept.ok ? { ok: true, value: { name, ...kept.value } } : kept;
};

/** A field that is null counts as absent. */
export const validateConfig = (config: Fields): Validated<Kept> => {
  const given = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
  const transport = mcpTransports.find((known) => known === given['transport']);
  if (transport === undefined) return refused('Valid transport type is required (http, sse, stdio)');
  const target = transport === 'stdio' ? commandOf(given) : urlOf(given);
  if (!target.ok) return target;
  const picked = pickFields(given, transport);
  if ('problem' in picked) return refused(picked.problem);
  const { enabled = true, ...fields } = picked.fields;
  const kept = { transport, ...target.value, ...fields };
  if (utf8Bytes(JSON.stringify(kept)) > mcpConfigBytesMax)
    return refused(`Config can have at most ${mcpConfigBytesMax} bytes`);
  return { ok: true, value: { config: kept as McpServerConfig, isEnabled: enabled === true } };
};

const urlOf = ({ url }: Fields): Validated<{ readonly url: string }> => {
  if (typeof url !== 'string' || url === '') return refused('URL is required for HTTP/SSE transport');
  const authority = /^https?:\/\/([^/?#\\]*)/i.exec(url)?.[1];
  if (authority === undefined) return refused('URL must start with http:// or https://');
  if (url.length > mcpTextCharactersMax || /[^\x21-\x7e]/.test(url) || authority === '')
    return refused(`URL must be an address of at most ${mcpTextCharactersMax} characters without spaces`);
  if (authority.includes('@')) return refused('URL must not hold a user name or password: use headers');
  if (url.includes(`=${mask}`)) return refused('URL holds a masked value: give the value itself');
  return { ok: true, value: { url } };
};

const commandOf = ({ command }: Fields): Validated<{ readonly command: string }> => {
  if (!isText(command, mcpTextCharactersMax) || command.trim() === '')
    return refused('Command is required for stdio transport');
  return { ok: true, value: { command } };
};

/** A configuration with a change applied: a given field replaces the whole field, null removes it. */
export const validateChange = ({ config, isEnabled }: Kept, change: Fields): Validated<Kept> =>
  validateConfig({ ...config, enabled: isEnabled, ...change });

const connecting = ['transport', 'url', 'headers', 'command', 'args', 'env', 'cwd'] as const;

/** True when another server may answer: then the known health and tools no longer count. */
export const isElsewhere = (one: McpServerConfig, other: McpServerConfig): boolean => {
  const target = (config: Fields): string => JSON.stringify(connecting.map((name) => config[name] ?? null));
  return target(one) !== target(other);
};

export type Fields = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown, charactersMax: number): value is string =>
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
const pickFields = (
  given: Fields,
  transport: 'http' | 'sse' | 'stdio',
): { readonly problem: string } | { readonly fields: Fields } => {
  const checks: Readonly<Record<string, Check>> = transport === 'stdio' ? stdio : remote;
  const known = Object.keys(checks).filter((name) => Object.hasOwn(given, name));
  const problem = known.map((name) => checks[name]?.(given[name])).find((one) => one !== undefined);
  if (problem !== undefined) return { problem };
  return { fields: Object.fromEntries(known.map((name) => [name, given[name]])) };
};
