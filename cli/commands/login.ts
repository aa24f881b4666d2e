/** `login`: asks for a token without showing it, checks it with the deployment, and keeps it for its owner. */
import { api } from '#sdk/routes.ts';
import { makeClient } from '../client.ts';
import type { Call, Command } from '../command.ts';
import { findDeployment, maskToken, readUrl, storeDeployment } from '../deployment.ts';
import { wrongUsage } from '../failure.ts';
import { askLine, askSecret } from '../prompt.ts';

const run = async (call: Call): Promise<undefined> => {
  const { host, output } = call;
  const named = await chooseUrl(call);
  const { url } = named;
  const token =
    call.text('token') ??
    named.token ??
    (await askSecret(host, `Token for ${url} (\`npm start\` prints it): `));
  if (!/^[\x21-\x7e]+$/.test(token)) throw wrongUsage('a token is one word of printable characters');
  if (url.startsWith('http:') && !/^http:\/\/(127\.|localhost|\[::1\])/.test(url))
    output.note(`Beware: over ${url} the token travels unencrypted.`);
  await makeClient({ url, token }).request(api.listSessions);
  const path = await storeDeployment(host, { url, token });
  output.result({ url, token: maskToken(token), path }, () => [
    `Logged in to ${url}; the token is in ${path}.`,
  ]);
  const { SALLYPORT_URL, SALLYPORT_TOKEN } = host.variables;
  if (SALLYPORT_URL || SALLYPORT_TOKEN)
    output.note('SALLYPORT_URL and SALLYPORT_TOKEN are set and go before what was stored.');
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
    'The token is asked for without being shown, or read from a pipe. The address that `npm start` prints,',
    'with its #token=…, may be given as the URL.',
  ],
  options: { url: { type: 'string' }, token: { type: 'string' } },
  positionals: { min: 0, max: 0 },
  run,
};
