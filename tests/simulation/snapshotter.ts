/**
 * A person who keeps the files of an agent session, forks and restores them, and deletes in the end what they kept. Their
 * draws are their own: worlds without them stay as they were.
 */

import { createSession } from '#shared/application/session/create-session.ts';
import { forkSource } from '#shared/application/snapshot/fork-source.ts';
import { deleteSnapshot, findSnapshot, makeSnapshot } from '#shared/application/snapshot/manage-snapshots.ts';
import { restoreSnapshot } from '#shared/application/snapshot/restore-snapshot.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { defaultProject } from '#shared/domain/principal.ts';
import { approve } from './approver.ts';
import type { Random } from './random.ts';
import { sessionOf, snapshotsIn } from './stored.ts';
import { defaultsOf, found, principal, sayOnce, type Users } from './users.ts';

const acts = ['snapshot', 'snapshot', 'fork', 'fork', 'restore', 'restore', 'delete', 'speak'] as const;
const snapshotsMax = 4;
const clearings = 6;
const clearingMs = 120_000;

type Keeping = { readonly users: Users; readonly random: Random; readonly sessions: SessionId[] };

export const keepSnapshots = async (users: Users, root: SessionId, random: Random): Promise<void> => {
  const { platform, until } = users;
  const { sim } = platform;
  sim.coverage.hit('world/snapshots');
  const keeping = { users, random, sessions: [root] };
  // A mode without questions asks about input to a process all the same.
  if (sim.hasInput) void approve(users, root);
  for (;;) {
    await sim.pause(random.spread(2000, 60_000));
    if (sim.now() > until) break;
    await act(keeping, random.pick<(typeof acts)[number]>(acts));
  }
  // A request that was not answered may make one a little later.
  for (let clearing = 0; clearing < clearings; clearing += 1) {
    for (const { id } of snapshotsIn(platform.table)) await drop(keeping, id);
    await sim.pause(clearingMs);
  }
};

const act = async (keeping: Keeping, what: (typeof acts)[number]): Promise<void> => {
  const { users, random, sessions } = keeping;
  const { platform } = users;
  const id = random.pick(sessions);
  const kept = snapshotsIn(platform.table).map((snapshot) => snapshot.id);
  if (what === 'fork') return fork(keeping, id, kept);
  if (what === 'speak') return void (await sayOnce(platform, id, { messageId: `m-${random.uuid()}` }));
  if (what === 'delete') return kept.length === 0 ? undefined : drop(keeping, random.pick(kept));
  await platform.request(what, async (ports) => {
    const { session } = await found(ports, id);
    if (what === 'snapshot') {
      await makeSnapshot(ports, { session, principal, name: 'kept', snapshotsMax });
      platform.sim.coverage.hit('session/snapshot');
      return;
    }
    if (kept.length === 0) return;
    const find = { project: defaultProject, id: random.pick(kept), principal, intent: 'read' } as const;
    const snapshot = await findSnapshot(ports, find);
    await restoreSnapshot(ports, { session, principal, snapshot });
    platform.sim.coverage.hit('session/restore');
  });
};

const drop = async ({ users: { platform } }: Keeping, id: string): Promise<void> => {
  await platform.request('delete', async (ports) => {
    const find = { project: defaultProject, id, principal, intent: 'write' } as const;
    await deleteSnapshot(ports, await findSnapshot(ports, find), principal);
  });
};

/** The new session is spoken to, so that its sandbox restores the files and saves over them. */
const fork = async (
  { users, random, sessions }: Keeping,
  session: SessionId,
  kept: readonly string[],
): Promise<void> => {
  const { platform } = users;
  const id = random.uuid() as SessionId;
  const of = kept.length > 0 && random.chance(0.5) ? { snapshot: random.pick(kept) } : { session };
  await platform.request('fork', (ports) =>
    createSession(ports, {
      ...{ id, principal, options: { approvals: 'auto' as const }, defaults: defaultsOf(platform) },
      sourceIn: forkSource(ports, principal, of),
    }),
  );
  if (sessionOf(platform.table, id) === undefined) return;
  platform.sim.coverage.hit('session/fork');
  sessions.push(id);
  if (platform.sim.hasInput) void approve(users, id);
  for (let message = random.int(0, 2); message > 0; message -= 1)
    await sayOnce(platform, id, { messageId: `m-${random.uuid()}` });
};
