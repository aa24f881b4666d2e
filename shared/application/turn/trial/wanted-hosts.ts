/** The hosts that programs of a trial wanted to reach: asked of its sandbox, whose answer is decoded and bounded. */
import { decode } from '../../../contracts/decode.ts';
import { wantedHostsAnswer } from '../../../contracts/wanted-hosts.ts';
import type { LiveSandbox } from '../../../domain/sandbox.ts';
import { AppError } from '../../../errors.ts';
import type { Deps } from '../../deps.ts';

/** A prompt names so many. */
const hostsMax = 20;

/** As `host:port`, `models` or `platform`. Throws `sandbox_unavailable` when it does not answer as it should. */
export const wantedHosts = async (
  { link }: Deps<'link'>,
  sandbox: LiveSandbox,
): Promise<readonly string[]> => {
  const response = await link.fetch(sandbox, { method: 'GET', path: '/relay/wanted-hosts', headers: {} });
  const decoded = decode(wantedHostsAnswer, response.ok ? await response.json() : undefined);
  if (!decoded.ok) throw new AppError('sandbox_unavailable', 'its sandbox did not say which hosts it wanted');
  return decoded.value.hosts.slice(0, hostsMax).map((host) => host.toWellFormed());
};
