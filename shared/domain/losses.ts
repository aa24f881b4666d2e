/**
 * Losses at the start of a sandbox, kept with its workspace until each session that uses it has been told (L15).
 *
 * Not only the agent makes a sandbox ready: a person's file, a client's process or another session may do so. An agent whose
 * sandbox is ready already reads here what it has not been told. A session is recorded as told after it was told: if its
 * function dies in between, it is told twice, but never not at all.
 */
import type { SessionId } from './ids.ts';
import { cutMiddle } from './text.ts';

/** The losses of one start, in the words for an agent, with those of earlier starts that a session was not told of yet. */
export type Losses = { readonly generation: number; readonly notice: string };

/** A workspace's losses, and the sessions that have not heard of them. */
export type Untold = {
  readonly losses?: Losses;
  /** Sessions that used it at that start and may not have been told. */
  readonly unaware?: readonly SessionId[];
};

export const noticeCharactersMax = 3000;

/** The losses to keep from this start on; undefined when it lost nothing, and what was kept stays. */
export const lossesAfter = (
  { users, losses, unaware = [] }: Untold & { readonly users: readonly SessionId[] },
  { generation, notice }: { readonly generation: number; readonly notice: string | undefined },
): Losses | undefined => {
  if (notice === undefined) return undefined;
  const isOwed = unaware.some((session) => users.includes(session));
  const earlier = losses !== undefined && isOwed ? [losses.notice] : [];
  return { generation, notice: cutMiddle([...earlier, notice].join('\n'), noticeCharactersMax) };
};

/** The losses that a session has not heard of. */
export const lossesFor = ({ losses, unaware = [] }: Untold, session: SessionId): Losses | undefined =>
  unaware.includes(session) ? losses : undefined;
