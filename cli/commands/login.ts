/** `login`, `whoami` and `logout`: stores a token after checking it, shows the deployment in use, deletes the stored token. */
import { api } from '#sdk/routes.ts';
import { makeClient } from '../runtime/client.ts';
import { type Call, type Command, none, value } from '../runtime/command.ts';
import {
  advised,
  deleteDeployment,
  findDeployment,
  isLoopback,
  isToken,
  maskToken,
  readUrl,
  storeDeployment,
} from '../runtime/deployment.ts';
import { toFailure, wrongUsage } from '../runtime/failure.ts';
import { factLines } from '../runtime/output.ts';
import { askLine, askSecret } from '../runtime/prompt.ts';

const run = async (call: Call): Promise<undefined> => {
  const { host, output } = call;
  const named = await chooseUrl(call);
  const { url } = named;
  const token =
    call.text('token') ??
    named.token ??
    (await askSecret(host, `Token for ${url} (printed by \`npm start\`): `));
  if (!isToken(token)) throw wrongUsage('a token consists of printable characters without spaces');
  if (url.startsWith('http:') && !isLoopback(url))
    output.note(`Warning: ${url} is not encrypted, so the token can be read on the network.`);
  await makeClient({ url, token })
    .request(api.listSessions)
    .catch((error: unknown) => {
      throw advised(error, { url, source: 'given' });
    });
  const path = await storeDeployment(host, { url, token });
  output.result({ url, token: maskToken(token), path }, () => [
    `Logged in to ${url}. The token is stored in ${path}.`,
  ]);
  const { SALLYPORT_URL, SALLYPORT_TOKEN } = host.variables;
  if (SALLYPORT_URL || SALLYPORT_TOKEN)
    output.note('SALLYPORT_URL or SALLYPORT_TOKEN is set and takes precedence over the stored values.');
};

const chooseUrl = async ({
  text,
  host,
}: Call): Promise<{ readonly url: string; readonly token?: string }> => {
  const given = text('url');
  if (given !== undefined) return readUrl(given);
  const { url: known } = await findDeployment(host);
  if (host.stdin.isTTY !== true || text('token') !== undefined) return { url: known };
  return readUrl((await askLine(host, `URL [${known}]: `)) || known);
};

export const loginCommand: Command = {
  name: 'login',
  usage: '[--url <url>] [--token <token>]',
  summary: 'Store the URL and the token of a deployment',
  details: [
    'Prompts for the token without echo, or reads it from a pipe. The URL may be the address that `npm start` prints,',
    'including its #token=….',
  ],
  options: { url: value, token: value },
  positionals: none,
  run,
};

export const logoutCommand: Command = {
  name: 'logout',
  usage: '',
  summary: 'Delete the stored URL and token',
  positionals: none,
  run: async ({ host, output }) => {
    const wasStored = await deleteDeployment(host);
    output.result({ loggedOut: wasStored }, () => [wasStored ? 'Logged out.' : 'No stored login.']);
    if (host.variables['SALLYPORT_TOKEN']) output.note('SALLYPORT_TOKEN is set and still in use.');
    return undefined;
  },
};

type Found = { readonly accepted?: boolean; readonly name?: string; readonly scope?: string };

export const whoamiCommand: Command = {
  name: 'whoami',
  usage: '',
  summary: 'Show the deployment in use and the scope of its token',
  positionals: none,
  run: async (call) => {
    const { url, source } = await findDeployment(call.host);
    const client = await call.client();
    const token = maskToken(client.token ?? '');
    const show = (verdict: string, found: Found): void =>
      call.output.result({ url, token, source, ...found }, () =>
        factLines([
          ['url', url],
          ['token', `${token} (${verdict})`],
          ['from', source === 'file' ? 'the stored login' : 'the environment'],
          ['name', found.name],
          ['scope', found.scope],
        ]),
      );
    try {
      const { name, scope } = await client.request(api.access);
      show('accepted', { accepted: true, ...(name === undefined ? {} : { name }), scope });
    } catch (error) {
      // The facts help most where the server does not: which URL, and which of two tokens.
      const isRefused = toFailure(error).body.error.code === 'unauthenticated';
      show(isRefused ? 'refused' : 'not checked', isRefused ? { accepted: false } : {});
      throw error;
    }
    return undefined;
  },
};
