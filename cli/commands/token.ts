/** `token`: creates access tokens, lists them masked and revokes them. A new token is printed once. */

import { readPages } from '#sdk/pages.ts';
import { api } from '#sdk/routes.ts';
import { type Call, type Command, given, listing, none, oneId, seconds, value } from '../runtime/command.ts';
import { wrongUsage } from '../runtime/failure.ts';
import { tableLines } from '../runtime/output.ts';

const create = async (call: Call): Promise<undefined> => {
  const [name, scope] = [call.text('name'), call.text('scope')];
  if (name === undefined || scope === undefined)
    throw wrongUsage('--name and --scope are required', [scopes]);
  const expiresInSeconds = seconds(call.text('expires'), 'expires');
  const made = await call.request(api.makeToken, { body: given({ name, scope, expiresInSeconds }) });
  call.output.result(made, () => [made.token]);
  if (!call.output.isJson)
    call.output.note(`Token ${made.id} (${made.scope}). It is shown only once: store it safely.`);
};

const list = async (call: Call): Promise<undefined> => {
  const tokens = await readPages(
    (after) => call.request(api.listTokens, { query: { after } }),
    (page) => page.tokens,
  );
  call.output.result({ tokens }, () =>
    tableLines(
      ['ID', 'NAME', 'SCOPE', 'TOKEN', 'EXPIRES'],
      tokens.map((one) => [one.id, one.name, one.scope, one.token, one.expiresAt ?? 'never']),
      'No tokens.',
    ),
  );
};

const revoke = async (call: Call): Promise<undefined> => {
  const [id = ''] = call.positionals;
  await call.request(api.revokeToken, { params: { id } });
  call.output.result({ id, revoked: true }, () => [`Revoked ${id}.`]);
};

const scopes = 'Scopes: admin, admin:ro, project:<id>, project:<id>:ro.';

export const tokenCommands: readonly Command[] = [
  ...listing('token', { usage: '', summary: 'List tokens, masked', positionals: none, run: list }),
  {
    name: 'token create',
    usage: '--name <name> --scope <scope> [--expires <time>]',
    summary: 'Create a token and print it once',
    details: [scopes],
    options: { name: value, scope: value, expires: value },
    positionals: none,
    run: create,
  },
  { name: 'token revoke', usage: '<id>', summary: 'Revoke a token', positionals: oneId, run: revoke },
];
