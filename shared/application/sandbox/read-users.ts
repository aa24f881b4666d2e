/** Reads the sessions that use workspaces. One that cannot be read may be alive: it is named, and its workspaces are left alone. */
import type { SessionId } from '../../domain/ids.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import type { Session } from '../../domain/session.ts';
import type { Deps } from '../deps.ts';

export type Users = { readonly sessions: readonly Session[]; readonly unread: ReadonlySet<SessionId> };

export const readUsers = async (
  { sessions, telemetry }: Deps<'sessions' | 'telemetry'>,
  workspaces: readonly Pick<Workspace, 'users'>[],
  warning: string,
): Promise<Users> => {
  const unread = new Set<SessionId>();
  const ids = workspaces.flatMap(({ users }) => users);
  const found = await sessions.getMany(ids, (error, id) => {
    telemetry.error(warning, { error });
    unread.add(id);
  });
  return { sessions: found, unread };
};
