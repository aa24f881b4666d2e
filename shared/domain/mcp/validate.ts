/**
 * The validation of an MCP server's name and configuration: the first thing that is wrong, in a fixed order and
 * wording, or the server as it is stored. The address behind a URL is not checked here.
 */
import { utf8Bytes } from '../text.ts';
import { type Fields, isObject, isText, mask, pickFields } from './config-fields.ts';
import { mcpConfigBytesMax, mcpNameCharactersMax, mcpTextCharactersMax } from './limits.ts';
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
