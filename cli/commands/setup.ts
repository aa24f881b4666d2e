/** `setup`: writes this deployment's `/mcp` into the settings of an MCP client, beside what is there. */
import { chmod, copyFile, mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ClientName, clientEntry, mergeEntry, serverName, settingsFile } from '../client-entry.ts';
import type { Call, Command } from '../command.ts';
import { toJson } from '../control-characters.ts';
import { findDeployment, requireDeployment } from '../deployment.ts';
import { failure } from '../failure.ts';

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
    isSame ? `${path} has this entry already.` : `Wrote ${serverName} into ${path}.`,
    ...(backup === undefined ? [] : [`What it held before is in ${backup}.`]),
  ]);
  output.note(advice(client, call.isSet('with-token')));
  return undefined;
};

const advice = (client: ClientName, isTokenInside: boolean): string => {
  if (isTokenInside) return 'The token is in that file: do not commit it.';
  if (client === 'claude-desktop')
    return 'Claude Desktop has no variables of your shell: add "env": {"SALLYPORT_TOKEN": "…"} to the entry, or use --with-token.';
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
    // Narrowed before the token is in it: a file that was there keeps its mode when it is written.
    await (await open(path, 'a', 0o600)).close();
    await chmod(path, 0o600);
  }
  await writeFile(path, text);
};

const common = {
  usage: '[--print] [--with-token]',
  options: { print: { type: 'boolean' }, 'with-token': { type: 'boolean' } },
  positionals: { min: 0, max: 0 },
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
