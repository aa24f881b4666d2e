/**
 * The entry of this deployment in the settings of an MCP client, and how it gets into a file that is somebody's.
 *
 * The token itself is written only on demand: each client gets a reference to SALLYPORT_TOKEN in its own notation.
 */
import { join } from 'node:path';
import type { Deployment } from './deployment.ts';
import { failure } from './failure.ts';
import type { Host } from './host.ts';

export type ClientName = 'claude-code' | 'claude-desktop' | 'cursor' | 'json';
export type Entry = Readonly<Record<string, unknown>>;

export const serverName = 'sallyport';

/** What the client replaces by a variable of its own environment. */
const variable = (name: string): string => `\${${name}}`;
const bearer = (reference: string) => ({ Authorization: `Bearer ${reference}` });

/** `token` undefined: by reference. */
export const clientEntry = (client: ClientName, { url, token }: Partial<Deployment>): Entry => {
  const mcp = `${url}/mcp`;
  switch (client) {
    case 'cursor':
      return { url: mcp, headers: bearer(token ?? variable('env:SALLYPORT_TOKEN')) };
    case 'claude-desktop':
      // Its settings know programs only; mcp-remote carries them to a URL, and fills in variables of its own environment.
      return {
        command: 'npx',
        args: ['-y', 'mcp-remote', mcp, '--header', `Authorization:Bearer ${variable('SALLYPORT_TOKEN')}`],
        ...(token === undefined ? {} : { env: { SALLYPORT_TOKEN: token } }),
      };
    case 'claude-code':
    case 'json':
      return { type: 'http', url: mcp, headers: bearer(token ?? variable('SALLYPORT_TOKEN')) };
  }
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The file's text with our entry in it; everything else stays. Refuses a file it does not understand. */
export const mergeEntry = (text: string | undefined, entry: Entry, path: string): string => {
  const settings = text === undefined || text.trim() === '' ? {} : parseSettings(text, path);
  const servers = settings['mcpServers'] ?? {};
  if (!isObject(servers)) throw notUnderstood(path, 'its mcpServers is no object');
  const merged = { ...settings, mcpServers: { ...servers, [serverName]: entry } };
  return `${JSON.stringify(merged, null, 2)}\n`;
};

const parseSettings = (text: string, path: string): Record<string, unknown> => {
  let settings: unknown;
  try {
    settings = JSON.parse(text);
  } catch (cause) {
    throw notUnderstood(path, 'it is not JSON', cause);
  }
  if (isObject(settings)) return settings;
  throw notUnderstood(path, 'it holds no object');
};

const notUnderstood = (path: string, why: string, cause?: unknown) =>
  failure('settings_unreadable', `${path} was left as it is: ${why}`, {
    cause,
    suggestions: ['Print the entry with --print, and put it in by hand.'],
  });

type Place = Pick<Host, 'folder' | 'homeFolder' | 'platform' | 'variables'>;

/** Where the client reads it; undefined for what is only printed. */
export const settingsFile = (client: ClientName, place: Place): string | undefined => {
  if (client === 'claude-code') return join(place.folder, '.mcp.json');
  if (client === 'cursor') return join(place.folder, '.cursor', 'mcp.json');
  return client === 'json' ? undefined : join(desktopFolder(place), 'claude_desktop_config.json');
};

const desktopFolder = ({ homeFolder, platform, variables }: Place): string => {
  if (platform === 'darwin') return join(homeFolder, 'Library', 'Application Support', 'Claude');
  if (platform === 'win32')
    return join(variables['APPDATA'] ?? join(homeFolder, 'AppData', 'Roaming'), 'Claude');
  return join(variables['XDG_CONFIG_HOME'] || join(homeFolder, '.config'), 'Claude');
};
