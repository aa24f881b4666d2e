/**
 * The link to one file of a session's workspace: it reads or writes that file without a token, until it expires.
 *
 * It stands for the principal that made it and is good only while that one's credential holds. A link that writes is used
 * once (AC9).
 */
import type { SessionId } from './ids.ts';
import type { Principal } from './principal.ts';

export const linkMethods = ['GET', 'PUT'] as const;
export type LinkMethod = (typeof linkMethods)[number];

export type FileLink = {
  readonly principal: Principal;
  readonly sessionId: SessionId;
  readonly path: string;
  readonly method: LinkMethod;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** The time of its one write. */
  readonly usedAt?: number;
};

/** True when it opens for this method now; a link that reads also answers HEAD. */
export const opens = (
  link: FileLink,
  { method, now }: { readonly method: string; readonly now: number },
): boolean =>
  link.expiresAt > now &&
  link.usedAt === undefined &&
  (link.method === method || (link.method === 'GET' && method === 'HEAD'));
