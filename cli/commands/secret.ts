/**
 * `secret`: the secrets of a project by name. A value is typed without echo or read from a pipe, and is refused as an
 * argument: a command line is visible to other users and stays in the shell's history.
 */
import { api } from '#sdk/routes.ts';
import { type Call, type Command, deleted, idOf, listing, none, oneName, value } from '../runtime/command.ts';
import { wrongUsage } from '../runtime/failure.ts';
import { tableLines } from '../runtime/output.ts';
import { askSecret, readPiped } from '../runtime/prompt.ts';
import { projectOf } from './projects.ts';

/** The maximum value, and the line end that a pipe adds. */
const pipedBytesMax = 8194;

const set = async (call: Call): Promise<undefined> => {
  const name = idOf(call);
  if (call.positionals.length > 1)
    throw wrongUsage('a value cannot be an argument, where other users could read it', [
      'Type it at the prompt, or pipe it: `sallyport secret set <name> < file`.',
    ]);
  const client = await call.client();
  const value = await readValue(call, name);
  if (value === '') throw wrongUsage('a secret needs at least one character');
  const params = { id: await projectOf(call, client), name };
  const answer = await client.request(api.putSecret, { params, body: { value } });
  call.output.result(answer, () => [`Set ${name}.`]);
};

/** Reads all lines of a pipe, since a key may have many, without the last line end, which `echo` adds. */
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
    tableLines(
      ['NAME'],
      secrets.map(({ name }) => [name]),
      'No secrets. Set one with `sallyport secret set <name>`.',
    ),
  );
};

const remove = async (call: Call): Promise<undefined> => {
  const name = idOf(call);
  const client = await call.client();
  const params = { id: await projectOf(call, client), name };
  const answer = await client.request(api.deleteSecret, { params });
  call.output.result(deleted(answer, { name }), () => [`Removed ${name}.`]);
};

const options = { project: value } as const;

export const secretCommands: readonly Command[] = [
  ...listing('secret', {
    usage: '[--project <id>]',
    summary: 'List the names of the secrets of a project',
    options,
    positionals: none,
    run: list,
  }),
  {
    name: 'secret set',
    usage: '<name> [--project <id>]',
    summary: 'Set a secret; prompts without echo, or reads a pipe',
    details: [
      `MCP servers use it as \${NAME} in headers and variables; \`projects update --inject\` puts it into requests.`,
      'The value cannot be read back.',
    ],
    options,
    positionals: { ...oneName, max: 2 },
    run: set,
  },
  {
    name: 'secret remove',
    usage: '<name> [--project <id>]',
    summary: 'Remove a secret',
    options,
    positionals: oneName,
    run: remove,
  },
];
