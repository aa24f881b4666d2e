/**
 * `setup`: writes this deployment's `/mcp` into the settings of an MCP client and keeps its other entries.
 *
 * The token itself is written only on demand: each client gets a reference to SALLYPORT_TOKEN in its own notation.
 */

import { chmod, copyFile, mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Call, type Command, flag, none } from '../runtime/command.ts';
import { toJson } from '../runtime/control-characters.ts';
import { type Deployment, findDeployment, requireDeployment } from '../runtime/deployment.ts';
import { failure } from '../runtime/failure.ts';
import type { Host } from '../runtime/host.ts';

const setUp = (client: ClientName) => async (call: Call) => {
  const { host, output } = call;
  const deployment = call.isSet('with-token')
    ? await requireDeployment(host)
    : { url: (await findDeployment(host)).url };
  const entry = clientEntry(client, deployment);
  const path = settingsFile(client, host);
  if (path === undefined || call.isSet('print')) {
    output.line(toJson({ mcpServers: { [serverName]: entry } }, 2));
    return undefined;
  }
  const before = await readText(path);
  const after = mergeEntry(before, entry, path);
  const isSame = before === after;
  const backup = before === undefined || isSame ? undefined : await keepBackup(path);
  if (!isSame) await write(path, after, call.isSet('with-token'));
  output.result({ path, changed: !isSame, ...(backup === undefined ? {} : { backup }) }, () => [
    isSame ? `${path} already has this entry.` : `Wrote ${serverName} into ${path}.`,
    ...(backup === undefined ? [] : [`The previous version is in ${backup}.`]),
  ]);
  output.note(advice(client, call.isSet('with-token')));
  return undefined;
};

const advice = (client: ClientName, isTokenInside: boolean): string => {
  if (isTokenInside) return 'The file contains the token: do not commit it.';
  if (client === 'claude-desktop')
    return 'Claude Desktop does not get the variables of your shell: add "env": {"SALLYPORT_TOKEN": "…"} to the entry, or use --with-token.';
  return 'The client reads the token from SALLYPORT_TOKEN: export it where you start the client.';
};

const readText = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw failure('settings_unreadable', `${path} cannot be read: ${cause.code}`, { cause });
  });

const keepBackup = async (path: string): Promise<string> => {
  const backup = `${path}.${new Date().toISOString().replaceAll(/[:.]/g, '-')}.bak`;
  await copyFile(path, backup);
  return backup;
};

const write = async (path: string, text: string, hasSecret: boolean): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  if (hasSecret) {
    // Sets the mode before the token is written, since an existing file keeps its mode.
    await (await open(path, 'a', 0o600)).close();
    await chmod(path, 0o600);
  }
  await writeFile(path, text);
};

const common = {
  usage: '[--print] [--with-token]',
  options: { print: flag, 'with-token': flag },
  positionals: none,
} as const;

export const setupCommands: readonly Command[] = [
  {
    name: 'setup claude-code',
    ...common,
    summary: 'Write .mcp.json of the current folder',
    run: setUp('claude-code'),
  },
  {
    name: 'setup claude-desktop',
    ...common,
    summary: 'Write the settings of Claude Desktop (through mcp-remote)',
    run: setUp('claude-desktop'),
  },
  {
    name: 'setup cursor',
    ...common,
    summary: 'Write .cursor/mcp.json of the current folder',
    run: setUp('cursor'),
  },
  { name: 'setup json', ...common, summary: 'Print the entry for any other client', run: setUp('json') },
];

type ClientName = 'claude-code' | 'claude-desktop' | 'cursor' | 'json';
type Entry = Readonly<Record<string, unknown>>;

const serverName = 'sallyport';

/** A reference that the client replaces by a variable of its own environment. */
const variable = (name: string): string => `\${${name}}`;
const bearer = (reference: string) => ({ Authorization: `Bearer ${reference}` });

/** Without a token the entry refers to the variable. */
export const clientEntry = (client: ClientName, { url, token }: Partial<Deployment>): Entry => {
  const mcp = `${url}/mcp`;
  switch (client) {
    case 'cursor':
      return { url: mcp, headers: bearer(token ?? variable('env:SALLYPORT_TOKEN')) };
    case 'claude-desktop':
      // Its settings support only programs; mcp-remote connects to the URL and fills in variables of its environment.
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

/** Adds our entry to the text of the file and keeps the rest. Refuses a file in another format. */
export const mergeEntry = (text: string | undefined, entry: Entry, path: string): string => {
  const settings = text === undefined || text.trim() === '' ? {} : parseSettings(text, path);
  const servers = settings['mcpServers'] ?? {};
  if (!isObject(servers)) throw unknownFormat(path, 'its mcpServers is not an object');
  const merged = { ...settings, mcpServers: { ...servers, [serverName]: entry } };
  return `${JSON.stringify(merged, null, 2)}\n`;
};

const parseSettings = (text: string, path: string): Record<string, unknown> => {
  let settings: unknown;
  try {
    settings = JSON.parse(text);
  } catch (cause) {
    throw unknownFormat(path, 'it is not JSON', cause);
  }
  if (isObject(settings)) return settings;
  throw unknownFormat(path, 'it is not an object');
};

const unknownFormat = (path: string, why: string, cause?: unknown) =>
  failure('settings_unreadable', `${path} was not changed: ${why}`, {
    cause,
    suggestions: ['Print the entry with --print and add it manually.'],
  });

type Machine = Pick<Host, 'folder' | 'homeFolder' | 'platform' | 'variables'>;

/** The settings file of the client; undefined when the entry is only printed. */
export const settingsFile = (client: ClientName, machine: Machine): string | undefined => {
  if (client === 'claude-code') return join(machine.folder, '.mcp.json');
  if (client === 'cursor') return join(machine.folder, '.cursor', 'mcp.json');
  return client === 'json' ? undefined : join(desktopFolder(machine), 'claude_desktop_config.json');
};

const desktopFolder = ({ homeFolder, platform, variables }: Machine): string => {
  if (platform === 'darwin') return join(homeFolder, 'Library', 'Application Support', 'Claude');
  if (platform === 'win32')
    return join(variables['APPDATA'] ?? join(homeFolder, 'AppData', 'Roaming'), 'Claude');
  return join(variables['XDG_CONFIG_HOME'] || join(homeFolder, '.config'), 'Claude');
};
