/**
 * Who uses the platform in a run: people who write, approve, cancel, come back and leave, and programs that run
 * code. They repeat what was not answered, as clients do, and answer every approval in the end.
 */

import { closeConnection } from '#shared/application/connection/close-connection.ts';
import { openConnection } from '#shared/application/connection/open-connection.ts';
import { type Executed, execute } from '#shared/application/execution/execute.ts';
import { openSandbox } from '#shared/application/sandbox/open-sandbox.ts';
import type { SessionDefaults } from '#shared/application/session/create-session.ts';
import { endSession } from '#shared/application/session/end-session.ts';
import { findSession } from '#shared/application/session/find-session.ts';
import { readEvents } from '#shared/application/session/read-events.ts';
import { resetHistory } from '#shared/application/session/reset-history.ts';
import { acceptMessage } from '#shared/application/turn/accept-message.ts';
import { answerCall, declareTools } from '#shared/application/turn/caller-tools.ts';
import { cancelTurn } from '#shared/application/turn/cancel-turn.ts';
import { decideCall } from '#shared/application/turn/decide-call.ts';
import { saveWorkspace } from '#shared/application/workspace/save-workspace.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import { deploymentOwner, type Principal } from '#shared/domain/principal.ts';
import type { ApprovalMode } from '#shared/domain/session.ts';
import { waitingCalls } from '#shared/domain/turn/pending-work.ts';
import { isAppError } from '#shared/errors.ts';
import { type StoredWorkspace, stateOf } from './checkers.ts';
import type { Platform, Ports } from './platform.ts';
import { foundText } from './registry.ts';
import type { Simulation } from './world.ts';

const principal: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'hash' };
const correlationId = 'user';
const triesMax = 4;

export type Users = {
  /** Their last word was said when this moment comes; after it they only answer. */
  readonly until: number;
  readonly platform: Platform;
};

const minuteMs = 60_000;

/** Some come just when the janitor does. */
const pauseSome = (sim: Simulation, milliseconds: number): Promise<void> => {
  if (!sim.random.chance(0.2)) return sim.pause(milliseconds);
  return sim.pause(minuteMs - (sim.now() % minuteMs) + sim.random.int(0, 150));
};

const defaultsOf = ({ settings }: Platform): SessionDefaults => ({
  provider: 'demo',
  flavor: 'small',
  template: 'python',
  lifetimes: settings.lifetimes,
  places: settings.places,
});

const found = (ports: Ports, id: SessionId) =>
  findSession(ports.sessions, { id, principal, intent: 'write' });

/** A person with an agent session. */
export const startPerson = (users: Users): void => {
  const { platform } = users;
  const { random } = platform.sim;
  const id = random.uuid() as SessionId;
  const approvals = random.pick<ApprovalMode>(['ask', 'ask', 'auto', 'low', 'high']);
  void connect(users, id, { approvals }).then(() => {
    void write(users, id);
    void approve(users, id);
    void read(users, id);
    if (random.chance(0.5)) void meddle(users, id);
    if (random.chance(0.4)) void offerTools(users, id);
  });
};

const connect = async (
  { platform, until }: Users,
  sessionId: SessionId,
  wish: { readonly approvals?: ApprovalMode; readonly since?: number },
): Promise<ConnectionId> => {
  const { sim, clients } = platform;
  const connectionId = `c-${sim.random.uuid()}` as ConnectionId;
  clients.set(connectionId, []);
  for (let attempt = 0; attempt < triesMax && sim.now() < until; attempt += 1) {
    const { status } = await platform.request('connect', async (ports) => {
      const { approvals, since } = wish;
      const isNew = attempt === 0 && since === undefined;
      const request = { connectionId, sessionId, isNew, principal, wish: { approvals }, since };
      await openConnection(ports, request, defaultsOf(platform));
      await ports.invoker.greet(connectionId, correlationId);
    });
    if (status === 'done') break;
    await sim.pause(500);
  }
  return connectionId;
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

const sayOnce = (
  platform: Platform,
  id: SessionId,
  said: { readonly messageId: string; readonly connectionId?: ConnectionId },
) =>
  platform.request('message', async (ports) => {
    const { session } = await found(ports, id);
    const gateway = platform.sim.random.chance(0.5) ? { acceptedAt: platform.sim.now() } : {};
    const placesMax = platform.settings.places.agentMax;
    return acceptMessage(ports, session, { text: 'please', ...said, ...gateway, correlationId, placesMax });
  });

/** A client that offers a tool, answers most calls of it, some twice, some late, and leaves at times. */
const offerTools = async (users: Users, id: SessionId): Promise<void> => {
  const { platform, until } = users;
  const { sim } = platform;
  const { random } = sim;
  const connectionId = await connect(users, id, {});
  const tools = [{ name: 'open', description: '', inputSchema: { type: 'object' } }];
  await platform.request('declares tools', async (ports) => {
    const { session } = await found(ports, id);
    await declareTools(ports, session, { callerId: 'ide', tools, connectionId });
  });
  const answered = new Map<string, number>();
  const leavesAt = random.chance(0.3) ? sim.now() + random.spread(1000, 120_000) : Number.POSITIVE_INFINITY;
  while (platform.table.get(`SESSION#${id}`, 'META') !== undefined && sim.now() < until + answerMsMax) {
    await sim.pause(random.spread(100, 20_000));
    if (sim.now() > leavesAt) {
      platform.clients.delete(connectionId);
      await platform.request('disconnect', (ports) =>
        closeConnection(ports, connectionId, platform.settings.limits),
      );
      return;
    }
    for (const { requestId, callId } of requestsOf(platform, id)) {
      const times = answered.get(requestId) ?? 0;
      if (times > 2 || random.chance(0.2)) continue;
      answered.set(requestId, times + 1);
      void platform.request('answers a call', async (ports) => {
        const result = foundText(callId);
        await answerCall(ports, await found(ports, id), {
          requestId,
          result,
          correlationId,
          limits: platform.settings.limits,
        });
      });
    }
  }
};

const answerMsMax = 10 * 60_000;

const requestsOf = ({ table }: Platform, id: SessionId) =>
  waitingCalls(stateOf(table.get(`SESSION#${id}`, 'TURN'))).map(({ wait, args }) => ({
    requestId: wait.id,
    callId: String(args['id']),
  }));

/** Looks at the screen now and then, and decides; sometimes twice, sometimes two people do. */
const approve = async ({ platform, until }: Users, id: SessionId): Promise<void> => {
  const { sim, table, settings } = platform;
  const { random } = sim;
  const decided = new Map<string, number>();
  let wasThere = false;
  for (;;) {
    await sim.pause(sim.now() > until ? 5000 : random.spread(300, 40_000));
    const isThere = table.get(`SESSION#${id}`, 'META') !== undefined;
    if (wasThere && !isThere) return;
    wasThere = isThere;
    const state = stateOf(table.get(`SESSION#${id}`, 'TURN'));
    const waiting =
      state.kind === 'deciding' ? state.calls.find(({ status }) => status === 'pending') : undefined;
    if (waiting === undefined || state.kind !== 'deciding') continue;
    const key = `${state.turnId} ${state.step} ${waiting.callId}`;
    const decide = async (): Promise<void> => {
      const ended = await platform.request('approval', async (ports) =>
        decideCall(ports, await found(ports, id), {
          callId: waiting.callId,
          approved: random.chance(0.75),
          remember: random.chance(0.1),
          correlationId,
          limits: settings.limits,
        }),
      );
      if (ended.status !== 'done') return;
      decided.set(key, (decided.get(key) ?? 0) + 1);
      if (waiting.callId.startsWith('call-') && (decided.get(key) ?? 0) > 1)
        sim.violate('a decision counts once', `${id}: ${key}`);
    };
    if (random.chance(0.2)) void decide();
    await decide();
    if (random.chance(0.1)) await decide();
  }
};

/** Polls the log from where it stands; what was read has no gap. */
const read = async (users: Users, id: SessionId): Promise<void> => {
  const { platform, until } = users;
  const { sim } = platform;
  let since = -1;
  while (sim.now() < until) {
    await sim.pause(sim.random.spread(1000, 60_000));
    if (sim.random.chance(0.2)) await reconnect(users, id, since);
    const page = await platform.request('events', async (ports) => {
      const { session } = await found(ports, id);
      if (sim.random.chance(0.3)) await ports.sessions.history(id);
      return readEvents(ports.sessions, session, { since, eventsMax: sim.random.int(1, 50) });
    });
    if (page.status !== 'done') continue;
    for (const { index } of page.value.events) {
      if (index !== since + 1) sim.violate('a reader sees every event', `${id}: ${since} then ${index}`);
      since = index;
    }
  }
};

const reconnect = async (users: Users, id: SessionId, since: number): Promise<void> => {
  const { platform } = users;
  const { sim } = platform;
  if (platform.table.get(`SESSION#${id}`, 'META') === undefined) return;
  const connection = await connect(users, id, { since });
  void sim.pause(sim.random.spread(1000, 90_000)).then(() => {
    platform.clients.delete(connection);
    return platform.request('disconnect', (ports) =>
      closeConnection(ports, connection, platform.settings.limits),
    );
  });
};

/** Cancels, forgets, puts a file, stops. */
const meddle = async ({ platform, until }: Users, id: SessionId): Promise<void> => {
  const { sim, settings } = platform;
  const { random } = sim;
  for (;;) {
    await sim.pause(random.spread(3000, 120_000));
    if (sim.now() > until) return;
    const what = random.pick(['cancel', 'cancel', 'cancel', 'reset', 'file', 'file', 'stop'] as const);
    // Somebody else writes at the same moment.
    for (let other = random.int(-3, 3); other > 0; other -= 1)
      sim.after(random.int(0, 150), () => void sayOnce(platform, id, { messageId: `m-${random.uuid()}` }));
    await platform.request(what, async (ports) => {
      const all = await found(ports, id);
      if (what === 'cancel') await cancelTurn(ports, id, correlationId);
      if (what === 'reset') await resetHistory(ports, all);
      if (what === 'stop')
        await endSession(ports, all.session, { reason: 'the user stopped it', correlationId });
      if (what !== 'file') return;
      const { lifetimes } = settings;
      const { sandbox } = await openSandbox(ports, all.session, { lifetimes, correlationId });
      await saveWorkspace(ports, sandbox);
    });
    if (what === 'stop' && random.chance(0.7)) return;
  }
};

/** A program that runs code, in a new session or in one it had. */
export const startProgram = async ({ platform, until }: Users): Promise<void> => {
  const { sim } = platform;
  const { random } = sim;
  let sessionId: string | undefined;
  for (let call = random.int(1, 4); call > 0; call -= 1) {
    await pauseSome(sim, random.spread(100, 60_000));
    if (sim.now() > until) return;
    if (sessionId !== undefined && random.chance(0.15)) await stop(platform, sessionId as SessionId);
    const once = () => runOnce(platform, sessionId);
    if (random.chance(0.2)) void once();
    const ended = await once();
    if (ended.status === 'done') sessionId = ended.value.session.id;
    else if (random.chance(0.7)) sessionId = undefined;
  }
};

const stop = (platform: Platform, id: SessionId) =>
  platform.request('stop', async (ports) => {
    const { session } = await found(ports, id);
    await endSession(ports, session, { reason: 'the program stopped it', correlationId });
  });

const runOnce = async (platform: Platform, sessionId: string | undefined) => {
  const { sim } = platform;
  const evictIdle = sim.random.chance(0.5);
  const waitSeconds = sim.random.chance(0.3) ? sim.random.int(1, 60) : 0;
  const leaves = new AbortController();
  if (sim.random.chance(0.1))
    sim.after(sim.random.spread(500, 60_000), () => leaves.abort(new Error('left')));
  const ended = await platform.longRequest('execution', (ports) =>
    execute(ports, {
      principal,
      ...(sessionId === undefined ? {} : { sessionId }),
      wish: { allowSmallerFlavor: sim.random.chance(0.5) },
      defaults: defaultsOf(platform),
      patience: { waitSeconds, evictIdle, correlationId, signal: leaves.signal },
      tool: 'execute_code',
      argsFor: () => ({ code: 'x' }),
      timeoutSeconds: 30,
      onProgress: () => undefined,
      onPhase: () => undefined,
    }),
  );
  if (ended.status === 'done') checkExecution(platform, ended.value);
  return ended;
};

/** What was answered was performed, once, and its files are kept or it is said that they are not (L11). */
const checkExecution = ({ sim, ledger, table, bucket, ecs }: Platform, executed: Executed): void => {
  const key = String(executed.structured['key'] ?? '');
  if (key === '') return;
  const performed = ledger.get(key);
  if (performed?.end?.status !== 'finished') sim.violate('an answer is that of the call', key);
  if (executed.notices.some((notice) => notice.includes('not saved'))) return;
  const { workspace } = executed.session;
  const { sandbox, checkpoint } = (table.get(`WORKSPACE#${workspace}`, 'META') ?? {}) as StoredWorkspace;
  const task = ecs.tasks.find(({ taskArn }) => taskArn === performed?.taskArn);
  const isThere =
    sandbox?.state === 'ready' && sandbox.taskArn === task?.taskArn && task?.desired === 'RUNNING';
  if (isThere && !bucket.get(checkpoint?.id ?? '')?.lines.includes(key))
    sim.violate('L11: what was told as done is in a checkpoint', key);
};
