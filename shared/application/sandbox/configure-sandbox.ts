/**
 * Tells a sandbox what its programs get: the variables and the folder of the session that started it, whether it has a
 * network, and the authority that they trust if the platform answers for some of its hosts. A repeat has no effect.
 */
import type { LiveSandbox, SandboxRecord } from '../../domain/sandbox.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';

export type Configured = Pick<SandboxRecord, 'environment' | 'cwd' | 'network' | 'isTrial'>;

type Ports = Deps<'environments' | 'sandboxAuthority'>;
type Sandbox = Pick<LiveSandbox, 'workspaceId' | 'generation'>;

/** The body that says it. */
export const configurationOf = async (
  { environments, sandboxAuthority }: Ports,
  { environment, cwd, network, isTrial }: Configured,
  { workspaceId, generation }: Sandbox,
): Promise<string> => {
  const variables = environment === undefined ? {} : await environments.read(environment.of);
  if (variables === undefined)
    throw new AppError('sandbox_start_failed', 'the environment of the session can no longer be read', {
      suggestions: ['Create a new session with its environment.'],
      recoveryActions: ['create_new_session'],
    });
  return JSON.stringify({
    variables,
    ...(cwd === undefined ? {} : { cwd }),
    ...(network === undefined ? {} : { hasNetwork: true }),
    ...(isTrial ? { isTrial: true } : {}),
    ...(network?.inject === undefined
      ? {}
      : { authority: sandboxAuthority.certificate(workspaceId, generation) }),
  });
};

/** False when it did not take it. Throws `sandbox_unavailable` when it does not answer. */
export const configureSandbox = async (
  ports: Ports & Deps<'link'>,
  configured: Configured,
  sandbox: LiveSandbox,
): Promise<boolean> => {
  const response = await ports.link.fetch(sandbox, {
    method: 'PUT',
    path: '/environment',
    headers: { 'content-type': 'application/json' },
    body: await configurationOf(ports, configured, sandbox),
  });
  await response.body?.cancel();
  return response.ok;
};
