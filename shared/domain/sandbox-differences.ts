/** The differences between a sandbox that runs in a workspace and the one that a new session there asks for. */

import { isSameNetwork } from './egress-policy.ts';
import type { SandboxRecord } from './sandbox.ts';
import type { Session } from './session.ts';

/** The fields that a request names. */
type Asked = {
  readonly flavor?: unknown;
  readonly template?: unknown;
  readonly environment?: unknown;
  readonly network?: unknown;
};

/** The fields in which a live sandbox is not as a new session asked for by name. */
export const differencesOf = (
  asked: Asked,
  session: Pick<Session, 'flavor' | 'template' | 'environment' | 'network'>,
  sandbox: Pick<SandboxRecord, 'flavor' | 'template' | 'environment' | 'network'>,
): readonly ('flavor' | 'template' | 'env' | 'network')[] => [
  ...(asked.flavor !== undefined && session.flavor !== sandbox.flavor ? (['flavor'] as const) : []),
  ...(asked.template !== undefined && session.template !== sandbox.template ? (['template'] as const) : []),
  ...(asked.environment !== undefined && session.environment?.fingerprint !== sandbox.environment?.fingerprint
    ? (['env'] as const)
    : []),
  ...(asked.network !== undefined && !isSameNetwork(session.network, sandbox.network)
    ? (['network'] as const)
    : []),
];
