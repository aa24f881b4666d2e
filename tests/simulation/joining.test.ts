/** Clients that connect again and again while turns run, in a world where nothing fails: each sees each event that follows its greeting. */

import { expect, test } from 'vitest';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import { calm } from './faults.ts';
import { Platform } from './platform.ts';
import { startJanitor } from './run.ts';
import { drawSettings, type Settings } from './settings.ts';
import { isAtRest, sessionOf, turnOf } from './stored.ts';
import { connect, sayOnce, type Users } from './users.ts';
import { Simulation } from './world.ts';

const minute = 60_000;
const seeds = [1, 2];
const sessions = 8;
const clientsEach = 60;
const timeoutMs = 240_000;

const settingsOf = (sim: Simulation): Settings => {
  const drawn = drawSettings(sim);
  return {
    ...drawn,
    ...{ leaseMs: 30_000, turnMs: 15 * minute, delegates: 0, poolSize: 0 },
    limits: { stepsMax: 50, callsMax: 4, usdMax: 10 },
    slots: { ...drawn.slots, agentMax: 2 * sessions, executionMax: 2 * sessions },
    ...{ isCrowded: false, isLong: false, isBig: false, isRing: false, hasProjects: false, hasNewer: false },
  };
};

type Client = { readonly session: SessionId; readonly connection: ConnectionId };

/** One session's turns, and those who look in for as long as they run. */
const follow = async (users: Users, clients: Client[]): Promise<void> => {
  const { sim, table } = users.platform;
  const session = sim.random.uuid() as SessionId;
  await connect(users, session, { approvals: 'auto' });
  for (let client = 0; client < clientsEach; client += 1) {
    if (isAtRest(turnOf(table, session)))
      void sayOnce(users.platform, session, { messageId: `m-${sim.random.uuid()}` });
    await sim.pause(sim.random.int(1, 700));
    const since = sim.random.chance(0.5) ? -1 : undefined;
    void connect(users, session, since === undefined ? {} : { since }).then((connection) =>
      clients.push({ session, connection }),
    );
  }
};

/** The numbers behind the greeting that a client did not get. */
const missedBy = ({ clients, table }: Platform, { session, connection }: Client): readonly number[] => {
  const frames = (clients.get(connection) ?? []).map((text) => JSON.parse(text));
  const got = new Set(frames.filter(({ sessionId }) => sessionId === session).map(({ seq }) => seq));
  const from = Number(frames[0]?.data.lastSeq) + 1;
  const last = sessionOf(table, session)?.lastSeq ?? -1;
  return Array.from({ length: last - from + 1 }, (_, index) => from + index).filter((seq) => !got.has(seq));
};

test.each(seeds)('no client misses an event of a turn in world %i', { timeout: timeoutMs }, async (seed) => {
  const sim = new Simulation(seed, new Set());
  sim.faults = { ...calm };
  const platform = new Platform(sim, settingsOf(sim));
  startJanitor(platform);
  const users = { platform, until: Number.POSITIVE_INFINITY };
  const clients: Client[] = [];
  for (let session = 0; session < sessions; session += 1) void follow(users, clients);
  await sim.runUntil(sim.now() + 10 * minute);
  sim.throwBroken();
  expect(clients).toHaveLength(sessions * clientsEach);
  expect(clients.map((client) => missedBy(platform, client)).filter(({ length }) => length > 0)).toEqual([]);
});
