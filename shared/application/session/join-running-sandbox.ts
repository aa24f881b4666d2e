/**
 * A new session in a workspace whose sandbox runs: it takes what runs, unless it asked for something else by name, which is
 * a conflict. A sandbox that stops takes nothing with it: the next one is as the session wants it.
 */

import type { SandboxRecord, Workspace } from '../../domain/sandbox.ts';
import { differencesOf } from '../../domain/sandbox-differences.ts';
import type { Session } from '../../domain/session.ts';
import { AppError } from '../../errors.ts';
import type { SessionOptions } from './new-session.ts';

export const joinRunningSandbox = (
  session: Session,
  { sandbox }: Partial<Pick<Workspace, 'sandbox'>>,
  options: SessionOptions,
): Session => {
  if (sandbox?.state !== 'starting' && sandbox?.state !== 'ready') return session;
  const differences = differencesOf(options, session, sandbox);
  if (differences.length === 0) return taking(session, sandbox);
  const { flavor, template } = sandbox;
  throw new AppError('conflict', `the sandbox of the workspace runs with another ${differences.join(', ')}`, {
    facts: { flavor, template },
    suggestions: [
      `Leave out ${differences.join(', ')} to use what runs, or name another workspace.`,
      'Or wait until the sandbox has stopped.',
    ],
  });
};

const taking = (
  { network: _, ...session }: Session,
  { flavor, template, network }: Pick<SandboxRecord, 'flavor' | 'template' | 'network'>,
): Session => ({ ...session, flavor, template, ...(network === undefined ? {} : { network }) });
