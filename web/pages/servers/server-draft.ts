/**
 * Draft of the server form and its request body: everything for a new server, the changed fields for an existing one.
 *
 * Masked values of headers and variables are never sent back: a change needs the value again. The API validates, and
 * `fieldOf` finds the field of its message.
 */
import type { McpServer, ServerConfig } from '#sdk/routes.ts';
import { sandboxSecretsWarning } from '#shared/domain/mcp/secrets.ts';
import { changedFields } from '../../api/changed-fields.ts';

export type Entry = { readonly name: string; readonly value: string };
type Transport = ServerConfig['transport'];

export type ServerDraft = {
  name: string;
  transport: Transport;
  url: string;
  headers: readonly Entry[];
  command: string;
  args: string;
  env: readonly Entry[];
  cwd: string;
  description: string;
  toolPrefix: string;
  timeoutSeconds: string;
};

export const emptyDraft: ServerDraft = {
  name: '',
  transport: 'http',
  url: '',
  headers: [],
  command: '',
  args: '',
  env: [],
  cwd: '',
  description: '',
  toolPrefix: '',
  timeoutSeconds: '',
};

const masked = '***';
const isMasked = (value: string): boolean => value.includes(masked);

const entriesOf = (texts: Readonly<Record<string, string>> = {}): Entry[] =>
  Object.entries(texts).map(([name, value]) => ({ name, value }));

export const draftOf = ({ name, config }: McpServer): ServerDraft => ({
  name,
  transport: config.transport,
  url: config.url ?? '',
  headers: entriesOf(config.headers),
  command: config.command ?? '',
  args: (config.args ?? []).join('\n'),
  env: entriesOf(config.env),
  cwd: config.cwd ?? '',
  description: config.description ?? '',
  toolPrefix: config.toolPrefix ?? '',
  timeoutSeconds: config.timeout === undefined ? '' : String(config.timeout / 1000),
});

type Fields = Readonly<Record<string, unknown>>;

const textsOf = (entries: readonly Entry[]): Fields | undefined => {
  const given = entries.filter(({ name, value }) => name.trim() !== '' || value !== '');
  return given.length === 0
    ? undefined
    : Object.fromEntries(given.map(({ name, value }) => [name.trim(), value]));
};
const textOf = (text: string): string | undefined => (text.trim() === '' ? undefined : text.trim());

/** Warning of the API for a server that puts secrets into sandboxes, while it is written. */
export const draftWarning = ({ transport, command, env }: ServerDraft): string | undefined =>
  transport === 'stdio'
    ? sandboxSecretsWarning({
        ...{ transport, command },
        env: Object.fromEntries(env.map(({ value }, at) => [String(at), value])),
      })
    : undefined;

/** Missing values are undefined. */
const fieldsOf = (draft: ServerDraft): Fields => ({
  transport: draft.transport,
  ...(draft.transport === 'stdio'
    ? {
        command: draft.command.trim(),
        args: textOf(draft.args) && draft.args.split('\n').filter((line) => line !== ''),
        env: textsOf(draft.env),
        cwd: textOf(draft.cwd),
      }
    : { url: draft.url.trim(), headers: textsOf(draft.headers) }),
  description: textOf(draft.description),
  toolPrefix: textOf(draft.toolPrefix),
  timeout: textOf(draft.timeoutSeconds) && Math.round(Number(draft.timeoutSeconds) * 1000),
});

export const configOf = (draft: ServerDraft): ServerConfig =>
  Object.fromEntries(
    Object.entries(fieldsOf(draft)).filter(([, value]) => value !== undefined),
  ) as unknown as ServerConfig;

/** Changed fields; null removes one. */
export const changeOf = (before: ServerDraft, after: ServerDraft): Fields =>
  changedFields(fieldsOf(before), fieldsOf(after));

/** The problem of a change that would store a mask. */
export const maskProblem = (
  change: Fields,
): { field: 'headers' | 'env' | 'url'; message: string } | undefined => {
  for (const field of ['headers', 'env', 'url'] as const) {
    const value = change[field];
    const texts = typeof value === 'string' ? [value] : Object.values(value ?? {}).map(String);
    if (texts.some(isMasked))
      return { field, message: 'Values shown as *** are hidden: enter them again, or use a secret.' };
  }
  return undefined;
};

export type DraftField = 'name' | 'url' | 'command' | 'headers' | 'env' | 'timeout' | 'args' | 'other';

/** The field of an API error, by its message. */
export const fieldOf = (message: string): DraftField => {
  if (/^(Name|MCP server ')/.test(message)) return 'name';
  if (/header/i.test(message) && !message.startsWith('URL')) return 'headers';
  if (/^URL|private, loopback|does not resolve|no address/i.test(message)) return 'url';
  if (/^Command/.test(message)) return 'command';
  if (/\benv\b/i.test(message)) return 'env';
  if (/timeout/i.test(message)) return 'timeout';
  if (/\bargs\b/i.test(message)) return 'args';
  return 'other';
};
