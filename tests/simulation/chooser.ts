/**
 * A person who changes the idle time of a session, mostly while its turn runs. Their draws are their own: worlds without them stay as
 * they were.
 */
import { changeSession } from '#shared/application/session/change-session.ts';
import { isEnded, type Session } from '#shared/domain/session.ts';
import type { Random } from './random.ts';
import { idsOf, isOfNewerVersion, sessionOf } from './stored.ts';
import { found, type Users } from './users.ts';

const idleMsMin = 1000;
const triesMax = 4;

export const chooseIdleTimes = async (users: Users, random: Random): Promise<void> => {
  const { platform, until } = users;
  const { sim } = platform;
  sim.coverage.hit('world/chooser');
  for (;;) {
    await sim.pause(random.spread(500, 30_000));
    if (sim.now() > until) return;
    const there = agentsOf(users);
    const working = there.filter(({ id }) => isHeld(users, id));
    const among = working.length > 0 ? working : there;
    if (among.length > 0) await choose(users, random.pick(among), random);
  }
};

const agentsOf = ({ platform: { table } }: Users): readonly Session[] =>
  idsOf(table, 'SESSION#').flatMap((id) => {
    const session = sessionOf(table, id);
    const isOpen = session?.kind === 'agent' && !isEnded(session.status) && !isOfNewerVersion(session);
    return isOpen && session.trialOf === undefined ? [session] : [];
  });

const isHeld = ({ platform: { table } }: Users, id: string): boolean =>
  table.get(`SESSION#${id}`, 'META')?.['leaseHolder'] !== '';

/** Repeated by the person until it is done, as clients do. */
const choose = async (users: Users, { id }: Session, random: Random): Promise<void> => {
  const { platform } = users;
  const { sim, settings } = platform;
  const { lifetimes } = settings;
  const idleMs = random.chance(0.2) ? undefined : random.spread(idleMsMin, lifetimes.idleMs);
  for (let attempt = 0; attempt < triesMax; attempt += 1) {
    const ended = await platform.request('changes an idle time', async (ports) => {
      const { session } = await found(ports, id);
      await changeSession(ports, session, { change: { idleMs }, lifetimes });
    });
    if (ended.status !== 'done') continue;
    sim.coverage.hit(`session/idle time ${isHeld(users, id) ? 'of a turn that runs' : 'at rest'}`);
    return;
  }
};
