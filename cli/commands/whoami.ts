/** `whoami`: which deployment is meant, where that is said, and whether its token is accepted there. */
import type { Command } from '../command.ts';
import { findDeployment, maskToken } from '../deployment.ts';
import type { HttpClient } from '../http-client.ts';
import { factLines } from '../table.ts';

type ListedToken = { readonly name: string; readonly scope: string; readonly token: string };

/** Only an admin token may list tokens; the deployment's own first token is none of them. */
const findOwnToken = async (client: HttpClient): Promise<Partial<ListedToken>> => {
  const masked = maskToken(client.token);
  const listed = await client.get<{ tokens?: readonly ListedToken[] }>('/api/tokens').catch(() => ({}));
  const matching = 'tokens' in listed ? (listed.tokens ?? []).filter(({ token }) => token === masked) : [];
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
    await client.get('/api/sessions');
    const { name, scope } = await findOwnToken(client);
    const token = maskToken(client.token);
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
