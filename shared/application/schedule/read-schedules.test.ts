/** The history of a schedule says which of its running runs wait for a person. */
import { expect, test } from 'vitest';
import { newSchedule } from '../../../tests/conformance/schedule-fixture.ts';
import { fake } from '../../../tests/fake.ts';
import type { MessageId, SessionId } from '../../domain/ids.ts';
import type { Run } from '../../domain/schedule/run.ts';
import type { Session } from '../../domain/session.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { ScheduleStore } from '../../ports/schedules.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { TurnStore } from '../../ports/turn-store.ts';
import type { ScheduleDeps } from '../deps.ts';
import { scheduleHistory } from './read-schedules.ts';

const schedule = newSchedule();
const run = {
  ...{ schedule: schedule.id, runAt: 0, part: '0', isManual: false, isLate: false, state: 'running' },
  ...{ claimedAt: 0, session: 'own' as SessionId, message: 'mine' as MessageId, version: 1 },
} satisfies Run;

type Standing = { session: Partial<Session>; below?: Partial<Session>; state?: object };

const historyOf = async ({ session, below = {}, state = {} }: Standing) => {
  const own = fake<Session>({ id: run.session, status: 'running', lastSeq: -1, ...session });
  const ports = fake<ScheduleDeps>({
    schedules: fake<ScheduleStore>({
      find: async () => ({ schedule, pins: new Map(), open: [run] }),
      history: async () => ({ runs: [] }),
    }),
    sessions: fake<SessionStore>({
      get: async () => own,
      descendants: async () => [fake<Session>({ id: 'child' as SessionId, status: 'running', ...below })],
    }),
    turns: fake<TurnStore>({
      loadWork: async () => ({ inbox: [{ messageId: run.message }] }) as never,
      getWithTurn: async () => ({ session: own, turn: { state } }) as never,
    }),
    eventLog: fake<EventLog>({ read: async () => ({ events: [], hasMore: false }) as never }),
    world: { now: () => 0, uuid: () => '', sha256: (text) => text, sleep: async () => {} },
  });
  const { runs } = await scheduleHistory(ports, schedule.creator, { id: schedule.id, itemsMax: 1 });
  return runs[0];
};

const asking = { kind: 'deciding', calls: [{ callId: 'c', status: 'pending' }] };

test.each<[string, Standing]>([
  ['its turn waits', { session: { waits: true } }],
  ['a turn under it waits', { session: { hasChildren: true }, below: { waits: true } }],
  ['a program that carries its turn asks', { session: { runtime: 'opencode' }, state: asking }],
])('a run needs approval while %s', async (_which, standing) => {
  expect(await historyOf(standing)).toMatchObject({ state: 'running', needsApproval: true });
});

test.each<[string, Standing]>([
  ['its turn works', { session: {} }],
  ['no turn under it waits', { session: { hasChildren: true } }],
  ['a program that carries its turn works', { session: { runtime: 'opencode' }, state: { kind: 'acting' } }],
])('a run needs none while %s', async (_which, standing) => {
  expect(await historyOf(standing)).not.toHaveProperty('needsApproval');
});
