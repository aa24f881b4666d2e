/**
 * A person who takes back what was allowed for the rest of a session, at times just when its turn begins or ends. Their draws are
 * their own: worlds without them stay as they were.
 */
import { withdrawGrant } from '#shared/application/approval/withdraw-grant.ts';
import type { Session } from '#shared/domain/session.ts';
import { grantsInForce } from '#shared/domain/turn/approval-policy.ts';
import type { Random } from './random.ts';
import { childrenOf, idsOf, isOfNewerVersion, sessionOf, turnOf } from './stored.ts';
import { found, principal, type Users } from './users.ts';

export const withdrawGrants = async (users: Users, random: Random): Promise<void> => {
  const { platform, until } = users;
  const { sim } = platform;
  sim.coverage.hit('world/withdrawer');
  for (;;) {
    await sim.pause(random.spread(500, 20_000));
    if (sim.now() > until) return;
    const granted = sessionsWithGrants(users);
    if (granted.length > 0) await withdraw(users, random.pick(granted), random);
  }
};

type Granted = { readonly id: Session['id']; readonly grants: readonly string[] };

const sessionsWithGrants = ({ platform: { table } }: Users): readonly Granted[] =>
  idsOf(table, 'SESSION#').flatMap((id) => {
    const session = sessionOf(table, id);
    if (session === undefined || isOfNewerVersion(session)) return [];
    const grants = grantsInForce(session, { state: turnOf(table, id) }).map((grant) => grant.id);
    return grants.length === 0 ? [] : [{ id: session.id, grants }];
  });

const withdraw = async ({ platform }: Users, { id, grants }: Granted, random: Random): Promise<void> => {
  const { table, checkers, settings } = platform;
  const grantId = random.pick(grants);
  const there = [id, ...childrenOf(table, id).map((child) => child.id)];
  const ended = await platform.request('withdraws a grant', async (ports) =>
    withdrawGrant(ports, await found(ports, id), { grantId, principal, limits: settings.limits }),
  );
  if (ended.status === 'done') checkers.grants.withdrawn(grantId, there);
};
