/** Special worlds: what is in the table before their users come, and what comes into it beside them. */

import { makeInbox } from '#shared/adapters/aws/dynamo/inbox.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { dueValues } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import type { Deps } from '#shared/application/deps.ts';
import type { MessageId, SessionId, TurnId, WorkspaceId } from '#shared/domain/ids.ts';
import { eventsPerSessionMax } from '#shared/domain/limits.ts';
import { defaultProject, deploymentOwner } from '#shared/domain/principal.ts';
import type { Session } from '#shared/domain/session.ts';
import { newSession } from '../conformance/session-fixture.ts';
import { type Command, tableOver } from './memory-table.ts';
import type { Platform } from './platform.ts';
import { sayOnce, type Users } from './users.ts';
import type { Simulation } from './world.ts';

type Item = Readonly<Record<string, unknown>>;

const put = ({ table }: Platform, Item: Item): void => {
  table.execute({ constructor: { name: 'PutCommand' }, input: { Item } });
};

const agentOf = (change: Pick<Session, 'id' | 'workspace' | 'createdAt'>): Session =>
  newSession({
    ...{ owner: deploymentOwner, project: defaultProject, approvals: 'auto', lastActiveAt: change.createdAt },
    ...change,
  });

const crowdMin = 100;
const crowdMax = 160;
const sweepMs = 60_000;

/** Agent sessions that share one workspace and are due at one moment; a few of them are spoken to. */
export const makeCrowd = async ({ platform, until }: Users): Promise<void> => {
  const { sim } = platform;
  const { further } = sim;
  sim.coverage.hit('world/crowd');
  const table = tableOver(async (command: Command) => platform.table.execute(command).output);
  const sessions = makeSessionStore(table);
  const stores = { sessions, inbox: makeInbox(table), turns: makeTurnStore(table) };
  const workspace = further.uuid() as WorkspaceId;
  const ids: SessionId[] = [];
  for (let count = further.int(crowdMin, crowdMax); count > 0; count -= 1) {
    const session = agentOf({ id: further.uuid() as SessionId, workspace, createdAt: sim.now() });
    const { id, owner, project, createdAt } = session;
    const making =
      ids.length === 0
        ? { workspace: { id: workspace, owner, project, createdAt, users: [id] } }
        : { enters: {} };
    await sessions.create(session, making);
    await rest(platform, stores, session);
    ids.push(id);
  }
  for (let message = further.int(1, 6); message > 0; message -= 1)
    sim.after(momentOf(sim, until), () => {
      void sayOnce(platform, further.pick(ids), { messageId: `m-${further.uuid()}` });
    });
};

/** In how many milliseconds a message comes: half of them while a sweep looks for idle sandboxes. */
const momentOf = (sim: Simulation, until: number): number => {
  const { further } = sim;
  const left = until - sim.now();
  if (further.chance(0.5)) return further.int(0, left);
  return Math.min(left, further.int(1, Math.ceil(left / sweepMs)) * sweepMs + further.int(0, 1500));
};

/** It has had a message and answered it. */
const rest = async (
  { sim, settings }: Platform,
  { sessions, inbox, turns }: Deps<'sessions' | 'inbox' | 'turns'>,
  session: Session,
): Promise<void> => {
  const at = sim.now();
  const message = { messageId: 'first' as MessageId, text: 'please', acceptedAt: at, correlationId: 'crowd' };
  const { agentMax: slotsMax, conversationsMax } = settings.slots;
  await inbox.accept(session, message, { slotsMax, conversationsMax });
  const read = await sessions.get(session.id);
  if (read === undefined) return;
  await turns.commit({
    ...{ session: read, version: 0, at, log: [], history: [], completed: message },
    state: { kind: 'done', turnId: sim.further.uuid() as TurnId, stopReason: 'end_turn' },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0, release: true, wakes: false },
    slot: { change: 'turn-rested', known: read.slot ?? {} },
    dueAt: at + settings.lifetimes.idleMs,
    patch: { status: 'idle', lastActiveAt: at },
  });
};

const unknown = 'of-a-newer-version';

/** Records that a newer version of the code wrote: with an unknown value, or an attribute that this one does not know. */
export const writeAsNewer = (platform: Platform): void => {
  const { sim, table } = platform;
  const { further } = sim;
  sim.coverage.hit('world/newer');
  sim.hasNewer = true;
  const id = further.uuid();
  const [now, dueAt] = [sim.now(), sim.now() + further.int(0, 120_000)];
  const due = (kind: 'session' | 'workspace') => {
    const values = dueValues(kind, id, dueAt);
    return { duePk: values[':duePk'], dueAt: values[':dueAt'], ofNewerVersion: true };
  };
  if (further.chance(0.5)) {
    const { lease, ...session } = agentOf({
      id: id as SessionId,
      workspace: further.uuid() as WorkspaceId,
      createdAt: now,
    });
    const held = { leaseHolder: lease.holder, leaseUntil: lease.until, leaseFence: lease.fence };
    put(platform, {
      pk: `SESSION#${id}`,
      sk: 'META',
      ...session,
      ...held,
      ...due('session'),
      approvals: unknown,
    });
  } else {
    const sandbox = {
      generation: 1,
      state: unknown,
      flavor: 'micro',
      template: 'python',
      requestedAt: now,
      source: 'cold',
    };
    const owned = { id, owner: deploymentOwner, project: defaultProject, createdAt: now };
    put(platform, { pk: `WORKSPACE#${id}`, sk: 'META', ...owned, ...due('workspace'), sandbox });
  }
  const known = table.partitions().filter((pk) => pk.startsWith('SESSION#'));
  const pk = known.length === 0 ? undefined : further.pick(known);
  const item = pk && table.get(pk, 'META');
  if (item !== undefined) put(platform, { ...item, knownToNewerVersion: unknown });
};

/** Fills the log of a new session almost to the number of events that it keeps. */
export const fillLog = (platform: Platform, id: string): number => {
  const meta = platform.table.get(`SESSION#${id}`, 'META');
  if (meta === undefined || meta['lastSeq'] !== -1) return -1;
  const lastSeq = eventsPerSessionMax - platform.sim.further.int(1, 15);
  const entry = JSON.stringify({ type: 'system', data: { kind: 'note', text: 'of long ago' } });
  for (let seq = 0; seq <= lastSeq; seq += 1)
    put(platform, {
      ...{ pk: `SESSION#${id}`, sk: `EVENT#${String(seq).padStart(12, '0')}` },
      ...{ seq, at: platform.sim.now(), entry },
    });
  put(platform, { ...meta, lastSeq });
  return lastSeq;
};
