/**
 * `secret`: the secrets of a project by name. A value is typed unseen or comes through a pipe, and is refused as an
 * argument: a command line is visible to other users and kept in the shell's history.
 */
import { api } from '#sdk/routes.ts';
import type { Call, Command } from '../command.ts';
import { wrongUsage } from '../failure.ts';
import { projectOf } from '../own-project.ts';
import { askSecret, readPiped } from '../prompt.ts';
import { tableLines } from '../table.ts';

/** The longest value, and the line end that a pipe adds. */
const pipedBytesMax = 8194;

const nameOf = ({ positionals }: Call): string => positionals[0] ?? '';

const set = async (call: Call): Promise<undefined> => {
  const name = nameOf(call);
  if (call.positionals.length > 1)
    throw wrongUsage('a value is no argument, where others could read it', [
      'Type it when you are asked, or pipe it: `sallyport secret set <name> < file`.',
    ]);
  const client = await call.client();
  const value = await readValue(call, name);
  if (value === '') throw wrongUsage('a secret has at least one character');
  const params = { id: await projectOf(call, client), name };
  const answer = await client.request(api.putSecret, { params, body: { value } });
  call.output.result(answer, () => [`Set ${name}.`]);
};

/** Of a pipe all lines, since a key may have many; the last line end is `echo`'s. */
const readValue = async ({ host }: Call, name: string): Promise<string> =>
  host.stdin.isTTY === true
    ? askSecret(host, `Value of ${name}: `)
    : (await readPiped(host, pipedBytesMax)).replace(/\r?\n$/, '');

const list = async (call: Call): Promise<undefined> => {
  const client = await call.client();
  const { secrets } = await client.request(api.listSecrets, {
    params: { id: await projectOf(call, client) },
  });
  call.output.result({ secrets }, () =>
    secrets.length === 0
      ? ['No secrets; set one with `sallyport secret set <name>`.']
      : tableLines(
          ['NAME'],
          secrets.map(({ name }) => [name]),
        ),
  );
};

const remove = async (call: Call): Promise<undefined> => {
  const name = nameOf(call);
  const client = await call.client();
  const params = { id: await projectOf(call, client), name };
  const answer = await client.request(api.deleteSecret, { params });
  call.output.result(answer, () => [`Removed ${name}.`]);
};

const options = { project: { type: 'string' } } as const;
const listing = {
  usage: '[--project <id>]',
  summary: 'List the secrets of a project by name',
  options,
  positionals: { min: 0, max: 0 },
  run: list,
};

export const secretCommands: readonly Command[] = [
  { name: 'secret', ...listing },
  { name: 'secret list', ...listing },
  {
    name: 'secret set',
    usage: '<name> [--project <id>]',
    summary: 'Set a secret; its value is asked for unseen, or read from a pipe',
    details: [`MCP servers use it as \${NAME} in headers and variables. Nobody can read it back.`],
    options,
    positionals: { min: 1, max: 2 },
    run: set,
  },
  {
    name: 'secret remove',
    usage: '<name> [--project <id>]',
    summary: 'Remove a secret',
    options,
    positionals: { min: 1, max: 1 },
    run: remove,
  },
];
