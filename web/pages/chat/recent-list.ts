/**
 * Agent sessions for the list beside a chat: of the newest ones, those that were active last, and the open one however old it is.
 *
 * The server lists sessions by the time when they were made, so one that began long ago is known only while it is open.
 */
import type { ApiClient } from '#sdk/api-client.ts';
import { api, type Session } from '#sdk/routes.ts';

export type Recent = {
  readonly sessions: readonly Session[];
  /** There are others, which were not looked at. */
  readonly hasOlder: boolean;
};

const shownMax = 40;

export const readRecent = async (
  client: Pick<ApiClient, 'request'>,
  { openId, signal }: { readonly openId: string | null; readonly signal: AbortSignal },
): Promise<Recent> => {
  const query = { kind: 'agent' } as const;
  const { sessions, next } = await client.request(api.listSessions, { query }, { signal });
  const isListed = openId === null || next === undefined || sessions.some(({ id }) => id === openId);
  const open = isListed ? undefined : await openOne(client, openId, signal);
  const shown = open === undefined ? sessions : [open, ...sessions];
  return {
    sessions: shown.toSorted((a, b) => b.lastActiveAt.localeCompare(a.lastActiveAt)).slice(0, shownMax),
    hasOlder: next !== undefined,
  };
};

/** Undefined for one that is no part of the list, or cannot be read: its own page says why. */
const openOne = async (
  client: Pick<ApiClient, 'request'>,
  id: string,
  signal: AbortSignal,
): Promise<Session | undefined> => {
  const session = await client
    .request(api.showSession, { params: { id } }, { signal })
    .catch(() => undefined);
  return session?.kind === 'agent' && !session.archived ? session : undefined;
};
