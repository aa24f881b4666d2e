/**
 * Changes what a client chose for its session. A changed idle limit counts from now on, but for a session that has ended; a
 * changed lifetime holds for the sandbox that runs, counted from its readiness, and for later ones.
 */

import type { Lifetimes } from '../../domain/idle-time.ts';
import { sandboxLookMs, sandboxMeterLookMs, sandboxStartMsMax } from '../../domain/limits.ts';
import { lifetimeEnd, type SandboxRecord } from '../../domain/sandbox.ts';
import type { Session } from '../../domain/session.ts';
import type { DetailsChange } from '../../domain/session-details.ts';
import { sessionNotFound } from '../access/find-session.ts';
import type { Deps } from '../deps.ts';

export const changeSession = async (
  ports: Deps<'sessions' | 'workspaces' | 'world'>,
  { id }: Session,
  { change, lifetimes }: { readonly change: DetailsChange; readonly lifetimes: Lifetimes },
): Promise<Session> => {
  const session = await ports.sessions.change(id, change);
  if (session === undefined) throw sessionNotFound();
  if ('lifetimeMs' in change) await applyLifetime(ports, session);
  if (!('idleMs' in change)) return session;
  const now = ports.world.now();
  const isAlive = await ports.sessions.touch(session, { at: now, lifetimes });
  return isAlive ? { ...session, lastActiveAt: now } : session;
};

const applyLifetime = async (
  { workspaces, world }: Deps<'workspaces' | 'world'>,
  { workspace, lifetimeMs }: Session,
): Promise<void> => {
  const { sandbox } = (await workspaces.get(workspace)) ?? {};
  if (sandbox === undefined) return;
  const { lifetimeMs: _, ...rest } = sandbox;
  const changed = lifetimeMs === undefined ? rest : { ...rest, lifetimeMs };
  await workspaces.setLifetime(workspace, sandbox.generation, {
    lifetimeMs,
    dueAt: dueWith(changed, world.now()),
  });
};

/** One that starts is due for its start. */
const dueWith = (sandbox: SandboxRecord, now: number): number => {
  if (sandbox.readyAt === undefined) return sandbox.requestedAt + sandboxStartMsMax;
  const end = lifetimeEnd(sandbox) ?? now + sandboxLookMs;
  return sandbox.meter === undefined ? end : Math.min(end, now + sandboxMeterLookMs);
};
