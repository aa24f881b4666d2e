/** A person with an agent session: writes, reads, comes back and leaves. They repeat what was not answered, as clients do. */
import { closeConnection } from '#shared/application/connection/close-connection.ts';
import { readEvents } from '#shared/application/events/read-events.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import type { ApprovalMode } from '#shared/domain/session.ts';
import { isAppError } from '#shared/errors.ts';
import { approve } from './approver.ts';
import { offerTools } from './caller-client.ts';
import { interruptAtRandom } from './interrupting-user.ts';
import { effectRules } from './settings.ts';
import { connect, found, pauseSome, sayOnce, type Users } from './users.ts';
import { fillLog } from './worlds.ts';

const triesMax = 4;

/** A person with an agent session. */
export const startPerson = (users: Users): void => {
  const { platform } = users;
  const { sim } = platform;
  const { random } = sim;
  const id = random.uuid() as SessionId;
  const drawn = random.pick<ApprovalMode>(['ask', 'ask', 'auto', 'low', 'high']);
  const approvals = sim.hasTrials && sim.further.chance(0.7) ? 'effect' : drawn;
  const hasRules = approvals === 'effect' && sim.further.chance(0.5);
  void connect(users, id, { approvals, ...(hasRules ? { effects: { rules: effectRules } } : {}) }).then(
    () => {
      const since = platform.settings.isRing ? fillLog(platform, id) : -1;
      void write(users, id);
      void approve(users, id);
      void read(users, id, since);
      if (random.chance(0.5)) void interruptAtRandom(users, id);
      if (random.chance(0.4)) void offerTools(users, id);
    },
  );
};

const write = async ({ platform, until }: Users, id: SessionId): Promise<void> => {
  const { sim } = platform;
  const { random } = sim;
  const connectionId = random.chance(0.5) ? (`c-${random.uuid()}` as ConnectionId) : undefined;
  for (let message = random.chance(0.05) ? 0 : random.int(1, 7); message > 0; message -= 1) {
    if (random.chance(0.3)) await sim.pause(random.int(1, 100));
    else await pauseSome(sim, random.spread(500, 30_000));
    if (sim.now() > until) return;
    const messageId = `m-${random.uuid()}`;
    const say = () =>
      sayOnce(platform, id, { messageId, ...(connectionId === undefined ? {} : { connectionId }) });
    if (random.chance(0.15)) void say();
    for (let attempt = 0; attempt < triesMax; attempt += 1) {
      const ended = await say();
      if (ended.status === 'done' || (ended.status === 'failed' && isAppError(ended.error))) break;
      await sim.pause(random.spread(100, 20_000));
    }
  }
};

/** Polls the log from where it stands; what was read has no gap. */
const read = async (users: Users, id: SessionId, first: number): Promise<void> => {
  const { platform, until } = users;
  const { sim } = platform;
  let since = first;
  while (sim.now() < until) {
    await sim.pause(sim.random.spread(1000, 60_000));
    if (sim.random.chance(0.2)) await reconnect(users, id, since);
    const page = await platform.request('events', async (ports) => {
      const { session } = await found(ports, id);
      if (sim.random.chance(0.3)) await ports.turns.history(id);
      return readEvents(ports.eventLog, session, { since, eventsMax: sim.random.int(1, 50) });
    });
    if (page.status === 'failed') since = oldestOf(page.error) ?? since;
    if (page.status !== 'done') continue;
    for (const { index } of page.value.events) {
      if (index !== since + 1) sim.violate('a reader sees every event', `${id}: ${since} then ${index}`);
      since = index;
    }
  }
};

/** The reader was too slow: it goes on with what is left. */
const oldestOf = (error: unknown): number | undefined =>
  isAppError(error) && error.code === 'events_purged'
    ? Number(error.details.facts?.['oldestIndex']) - 1
    : undefined;

const reconnect = async (users: Users, id: SessionId, since: number): Promise<void> => {
  const { platform } = users;
  const { sim } = platform;
  if (platform.table.get(`SESSION#${id}`, 'META') === undefined) return;
  const connection = await connect(users, id, { since });
  void sim.pause(sim.random.spread(1000, 90_000)).then(() => {
    platform.clients.delete(connection);
    return platform.request('disconnect', (ports) =>
      closeConnection(ports, { connectionId: connection, sessionId: id }, platform.settings.limits),
    );
  });
};
