/**
 * A deployment in which schedules are dispatched on a real table, with a scheduler and sessions that do as they are told; its
 * clock stands still until it is set.
 */

import { createHash } from 'node:crypto';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import type { Table } from '#shared/adapters/aws/dynamo/table.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { dispatchSchedule } from '#shared/application/schedule/dispatch-schedule.ts';
import type { Conversation, RunDeps, Spoken } from '#shared/application/schedule/schedule-conversation.ts';
import type { LogEvent } from '#shared/domain/event-log.ts';
import type { SessionId, TurnId, WorkspaceId } from '#shared/domain/ids.ts';
import type { Run } from '#shared/domain/schedule/run.ts';
import type { Schedule } from '#shared/domain/schedule/schedule.ts';
import type { TokenStore } from '#shared/ports/access.ts';
import type { EventLog } from '#shared/ports/event-log.ts';
import type { ProjectStore } from '#shared/ports/projects.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import type { TurnStore } from '#shared/ports/turn-store.ts';
import { fake } from '../fake.ts';
import { newSchedule } from './schedule-fixture.ts';
import { newSession } from './session-fixture.ts';

export const minute = 60_000;
export const begin = 1_800_000_000_000 - (1_800_000_000_000 % minute);

export const openWorld = (table: Table) => {
  const at = { now: begin };
  const said: string[] = [];
  /** The sessions that a message was sent to, and those that take no more. */
  const heard = new Set<string>();
  const over = new Set<string>();
  const asked: string[] = [];
  const armed: string[] = [];
  const counted: string[] = [];
  const logs = new Map<string, LogEvent[]>();
  const faults: { arm?: Error; speak?: Error; token?: 'gone' } = {};
  const speak = async (session: SessionId, { messageId }: Spoken): Promise<Conversation> => {
    if (faults.speak !== undefined) throw faults.speak;
    asked.push(messageId);
    heard.add(`${session} ${messageId}`);
    const log = logs.get(session) ?? [];
    const lastEventIndex = log.length - 1;
    if (!said.includes(messageId)) {
      said.push(messageId);
      const data = { messageId, role: 'user' as const, text: 'x' };
      log.push({ type: 'message', data, seq: log.length, at: at.now });
    }
    logs.set(session, log);
    return { session, workspace: 'w' as WorkspaceId, lastEventIndex };
  };
  const noticed: string[] = [];
  const ports = fake<RunDeps>({
    schedules: makeScheduleStore(table),
    webhooks: makeWebhookStore(table),
    noticeSender: { sendNotices: async (ids) => void noticed.push(...ids) },
    scheduler: {
      arm: async (id, runAt) => {
        if (faults.arm !== undefined) throw faults.arm;
        armed.push(`${id} ${runAt}`);
      },
      disarm: async (id, runAt) => void armed.splice(armed.indexOf(`${id} ${runAt}`), 1),
    },
    converse: {
      message: (request) => speak(request.session, request),
      spawn: (request) => speak(request.id, request),
      end: async ({ id }) => void over.add(id),
    },
    sessions: fake<SessionStore>({
      get: async (id) =>
        logs.has(id)
          ? newSession({
              id,
              status: over.has(id) ? 'completed' : 'idle',
              lastSeq: (logs.get(id)?.length ?? 0) - 1,
            })
          : undefined,
    }),
    eventLog: fake<EventLog>({
      read: async (id, { since }) => ({
        events: (logs.get(id) ?? []).filter(({ seq }) => seq > since),
        hasMore: false,
      }),
    }),
    turns: fake<TurnStore>({
      loadWork: () => Promise.reject(new Error('no log here is that long')),
    }),
    projects: fake<ProjectStore>({
      get: async (id) => ({ id, owner: 'o' as never, name: 'p', createdAt: 1 }),
    }),
    tokens: fake<TokenStore>({ get: async (hash) => (faults.token ? undefined : ({ hash } as never)) }),
    adminTokenHash: 'another',
    telemetry: {
      info() {},
      warn() {},
      error() {},
      duration() {},
      count: (metric) => void counted.push(metric),
    },
    world: {
      now: () => at.now,
      uuid: () => crypto.randomUUID(),
      sha256: (text) => createHash('sha256').update(text).digest('hex'),
      sleep: async (milliseconds) => {
        at.now += milliseconds;
      },
    },
  });
  const complete = (session: string | undefined): void => {
    const log = logs.get(session ?? '') ?? [];
    const usage = { inputTokens: 0, outputTokens: 0 };
    const data = {
      turnId: 't' as TurnId,
      stopReason: 'end_turn' as const,
      text: 'ok',
      usage,
      sessionCostUsd: 0,
    };
    log.push({ type: 'completion', data, seq: log.length, at: at.now });
  };
  const dispatch = (id: Schedule['id'], runAt?: number) => dispatchSchedule(ports, { id, runAt });
  const forget = (session: string): void => void logs.delete(session);
  return { at, said, heard, over, asked, armed, counted, faults, ports, dispatch, complete, forget };
};

export type WorldOfTest = ReturnType<typeof openWorld>;

export const made = async ({ ports }: WorldOfTest, change: Partial<Schedule> = {}): Promise<Schedule> => {
  const schedule = newSchedule({ nextRunAt: begin + minute, ...change });
  await ports.schedules.create(schedule, { dueAt: begin, schedulesMax: 50 });
  return schedule;
};
export const stateOf = async ({ ports }: WorldOfTest, { id }: Schedule) => {
  const state = await ports.schedules.find(id);
  if (state === undefined) throw new Error('there is no such schedule');
  return state;
};
export const historyOf = async ({ ports, at }: WorldOfTest, { id }: Schedule): Promise<readonly Run[]> =>
  (await ports.schedules.history(id, { itemsMax: 100, now: at.now })).runs;
