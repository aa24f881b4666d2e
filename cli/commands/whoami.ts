/** `whoami`: which deployment is meant, where that is said, and whether its token is accepted there. */
import { type AccessToken, api } from '#sdk/routes.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import type { Command } from '../command.ts';
import { findDeployment, maskToken } from '../deployment.ts';
import { factLines } from '../table.ts';

/** Only an admin token may list tokens; the deployment's own first token is none of them. */
const findOwnToken = async (client: Sallyport): Promise<Partial<AccessToken>> => {
  const masked = maskToken(client.token ?? '');
  const { tokens } = await client.request(api.listTokens).catch(() => ({ tokens: [] }));
  const matching = tokens.filter(({ token }) => token === masked);
  return matching.length === 1 ? (matching[0] ?? {}) : {};
};

export const whoamiCommand: Command = {
  name: 'whoami',
  usage: '',
  summary: 'Show the deployment and whether the token is accepted',
  positionals: { min: 0, max: 0 },
  run: async (call) => {
    const { url, source } = await findDeployment(call.host);
    const client = await call.client();
    await client.request(api.listSessions);
    const { name, scope } = await findOwnToken(client);
    const token = maskToken(client.token ?? '');
    const known = { ...(name === undefined ? {} : { name }), ...(scope === undefined ? {} : { scope }) };
    call.output.result({ url, token, source, accepted: true, ...known }, () =>
      factLines([
        ['url', url],
        ['token', `${token} (accepted)`],
        ['from', source === 'file' ? 'what `login` stored' : 'the environment'],
        ['name', name],
        ['scope', scope],
      ]),
    );
    return undefined;
  },
};
