/** `logout`: forgets what `login` stored; the token itself stays valid until it is revoked. */
import type { Command } from '../command.ts';
import { forgetDeployment } from '../deployment.ts';

export const logoutCommand: Command = {
  name: 'logout',
  usage: '',
  summary: 'Forget the stored URL and token',
  positionals: { min: 0, max: 0 },
  run: async ({ host, output }) => {
    const wasStored = await forgetDeployment(host);
    output.result({ loggedOut: wasStored }, () => [wasStored ? 'Logged out.' : 'Nothing was stored.']);
    if (host.variables['SALLYPORT_TOKEN']) output.note('SALLYPORT_TOKEN is set and still used.');
    return undefined;
  },
};
