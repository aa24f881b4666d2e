/**
 * Two hundred turns that wait for a person for a day, in a world where nothing fails: what they cost after their sandboxes have
 * stopped, and whether each goes on, with its files, when the person is back.
 *
 * The platform is whole: its functions, and all sweeps of the janitor in their time. A second platform, in which nobody works, says
 * what the sweeps alone cost.
 */
import { decideCall } from '#shared/application/turn/requests/decide-call.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { calm } from './faults.ts';
import type { Usage } from './lambda.ts';
import { Platform } from './platform.ts';
import { startJanitor } from './run.ts';
import { drawSettings, principal, type Settings } from './settings.ts';
import { callsOf, isAtRest, sessionOf, turnOf, workspaceOf } from './stored.ts';
import { connect, found, sayOnce, type Users } from './users.ts';
import { Simulation } from './world.ts';

const minute = 60_000;
const day = 1440 * minute;
/** As an operator has it who sets nothing, but for the history, which here outlasts the day. */
const lifetimes = {
  idleMs: 15 * minute,
  executionIdleMs: 15 * minute,
  historyMs: 3 * day,
  pausedMs: 7 * day,
  waitStopMs: 2 * minute,
};
/** A stop is confirmed by its event, and a holder of slots is audited once by a sweep that comes every five minutes. */
const settleMs = 15 * minute;
const answersMs = 30 * minute;

type WaitingDay = {
  /** Turns whose sandbox has run a tool, and that wait for a person. */
  readonly waiting: number;
  /** From the stop of the last sandbox to the first decision. */
  readonly hours: number;
  readonly sandboxSeconds: number;
  /** Of functions other than the janitor's sweeps. */
  readonly functions: number;
  readonly functionSeconds: number;
  readonly sweeps: number;
  /** Requests of the sweeps to the table. */
  readonly requests: number;
  /** The same of a platform in which nobody works. */
  readonly emptySweeps: number;
  readonly emptyRequests: number;
  /** Seconds from the question to the stop of its sandbox, of the slowest. */
  readonly stoppedAfterSeconds: number;
  /** Turns whose call ran once after the decision, in another sandbox, with the files of the first. */
  readonly back: number;
};

export const runWaitingDay = async (seed: number, turns: number): Promise<WaitingDay> => {
  const platform = openPlatform(seed, turns);
  const users = { platform, until: Number.POSITIVE_INFINITY };
  const { sim } = platform;
  const asked = await askAll(users, turns);
  await sim.runUntil(sim.now() + lifetimes.waitStopMs + settleMs);
  const before = countsOf(platform);
  const stoppedAfter = asked.map(({ task, at }) => (stoppedAtOf(platform, task) - at) / 1000);
  await sim.runUntil(sim.now() + day);
  const spent = differenceOf(countsOf(platform), before);
  const empty = await emptyDay(seed, turns);
  for (const { id } of asked) void decideAll(users, id);
  await sim.runUntil(sim.now() + answersMs);
  return {
    waiting: asked.length,
    hours: day / 3_600_000,
    sandboxSeconds: spent.sandboxMs / 1000,
    functions: spent.functions.times,
    functionSeconds: spent.functions.milliseconds / 1000,
    sweeps: spent.sweeps.times,
    requests: spent.requests,
    emptySweeps: empty.sweeps.times,
    emptyRequests: empty.requests,
    stoppedAfterSeconds: Math.max(...stoppedAfter),
    back: asked.filter((one) => isBack(platform, one)).length,
  };
};

const openPlatform = (seed: number, turns: number): Platform => {
  const sim = new Simulation(seed, new Set());
  // Nothing fails, and yet people begin what they like: a calm world would only look.
  sim.faults = { ...calm };
  const platform = new Platform(sim, settingsOf(sim, turns));
  startJanitor(platform);
  return platform;
};

const settingsOf = (sim: Simulation, turns: number): Settings => {
  const drawn = drawSettings(sim);
  return {
    ...drawn,
    lifetimes,
    poolSize: 0,
    leaseMs: 30_000,
    turnMs: 15 * minute,
    limits: { stepsMax: 50, callsMax: 4, usdMax: 10 },
    delegates: 0,
    slots: { ...drawn.slots, agentMax: 2 * turns, evictsIdle: false },
    orphansEveryMinutes: 10,
  };
};

/** A turn that waits: its sandbox, and the moment of the question. */
type Asked = { readonly id: SessionId; readonly key: string; readonly task: string; readonly at: number };

const askAll = async (users: Users, turns: number): Promise<readonly Asked[]> => {
  const { sim } = users.platform;
  let over = 0;
  const asked = Array.from({ length: turns }, async () => {
    const one = await ask(users);
    over += 1;
    return one;
  });
  while (over < turns) await sim.runUntil(sim.now() + 1000);
  return Promise.all(asked);
};

const sandboxTools: readonly string[] = ['execute_command', 'write_file'];

/** A person who says something and approves until a sandbox has run a tool and the turn asks about the next one. */
const ask = async (users: Users): Promise<Asked> => {
  const { platform } = users;
  const { sim, table } = platform;
  const id = sim.random.uuid() as SessionId;
  await sim.pause(sim.random.int(1, 10 * minute));
  await connect(users, id, { approvals: 'ask' });
  for (;;) {
    const state = turnOf(table, id);
    const next = callsOf(state).find(({ status }) => status === 'pending');
    const task = next === undefined ? undefined : usedTask(platform, id);
    if (next !== undefined && task !== undefined && sandboxTools.includes(next.name))
      return { id, key: next.key, task, at: sim.now() };
    if (next !== undefined) await decide(platform, id, next.callId);
    else if (isAtRest(state)) await sayOnce(platform, id, { messageId: `m-${sim.random.uuid()}` });
    await sim.pause(1000);
  }
};

/** The task of a session's sandbox, once it has run a tool and what that did is saved. */
const usedTask = ({ table, ecs }: Platform, id: SessionId): string | undefined => {
  const { sandbox, checkpoint } = workspaceOf(table, sessionOf(table, id)?.workspace ?? '');
  if (sandbox?.state !== 'ready' || checkpoint === undefined) return undefined;
  const task = ecs.tasks.find(({ taskArn }) => taskArn === sandbox.taskArn);
  return task !== undefined && task.machine.lines.length > 0 ? task.taskArn : undefined;
};

const decide = (platform: Platform, id: SessionId, callId: string) =>
  platform.request('approval', (ports) =>
    decideCall(ports, {
      ...{ sessionId: id, callId, principal, limits: platform.settings.limits },
      find: () => found(ports, id),
      decisionOf: () => ({ callId, approved: true }),
    }),
  );

/** The person is back: every question of the turn is answered, to its end. */
const decideAll = async ({ platform }: Users, id: SessionId): Promise<void> => {
  const { sim, table } = platform;
  await sim.pause(sim.random.int(1, minute));
  for (;;) {
    const state = turnOf(table, id);
    if (isAtRest(state)) return;
    const next = callsOf(state).find(({ status }) => status === 'pending');
    if (next !== undefined && state.kind === 'deciding') await decide(platform, id, next.callId);
    await sim.pause(1000);
  }
};

/** The call that waited ran once, in a later sandbox, behind all lines of the one that stopped. */
const isBack = ({ ledger, ecs }: Platform, { key, task }: Asked): boolean => {
  const linesOf = (arn: string | undefined) =>
    ecs.tasks.find(({ taskArn }) => taskArn === arn)?.machine.lines ?? [];
  const ran = ledger.get(key);
  const former = linesOf(task);
  const lines = linesOf(ran?.taskArn);
  const isSame = former.every((line, place) => lines[place] === line);
  return ran?.times === 1 && ran.taskArn !== task && isSame && lines.includes(key);
};

const stoppedAtOf = ({ ecs }: Platform, task: string): number =>
  ecs.tasks.find(({ taskArn }) => taskArn === task)?.stoppedAt ?? Number.NaN;

type Counts = {
  readonly functions: Usage;
  readonly sweeps: Usage;
  readonly requests: number;
  readonly sandboxMs: number;
};

const isSweep = (name: string): boolean => /^janitor (due|slots|orphans|mcp)$/.test(name);

const countsOf = ({ sim, used, service, ecs }: Platform): Counts => {
  const sum = (of: (name: string) => boolean): Usage => {
    const all = [...used].filter(([name]) => of(name)).map(([, usage]) => usage);
    return {
      times: all.reduce((total, { times }) => total + times, 0),
      milliseconds: all.reduce((total, { milliseconds }) => total + milliseconds, 0),
    };
  };
  return {
    functions: sum((name) => !isSweep(name)),
    sweeps: sum(isSweep),
    requests: service.requests,
    sandboxMs: ecs.tasks.reduce((ms, { createdAt, stoppedAt = sim.now() }) => ms + stoppedAt - createdAt, 0),
  };
};

const differenceOf = (later: Counts, earlier: Counts): Counts => {
  const between = (of: (counts: Counts) => Usage): Usage => ({
    times: of(later).times - of(earlier).times,
    milliseconds: of(later).milliseconds - of(earlier).milliseconds,
  });
  return {
    functions: between(({ functions }) => functions),
    sweeps: between(({ sweeps }) => sweeps),
    requests: later.requests - earlier.requests,
    sandboxMs: later.sandboxMs - earlier.sandboxMs,
  };
};

const emptyDay = async (seed: number, turns: number): Promise<Counts> => {
  const platform = openPlatform(seed, turns);
  await platform.sim.runUntil(platform.sim.now() + settleMs);
  const before = countsOf(platform);
  await platform.sim.runUntil(platform.sim.now() + day);
  return differenceOf(countsOf(platform), before);
};
