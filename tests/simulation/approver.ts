/** A person who looks at a session and all under it now and then, and decides; sometimes twice, sometimes two people do. */
import { restartForPrompt } from '#shared/application/approval/restart-for-prompt.ts';
import { decideCall } from '#shared/application/turn/requests/decide-call.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { TriedCall } from '#shared/domain/turn/trial.ts';
import type { Platform } from './platform.ts';
import { childrenOf, sessionOf, turnOf } from './stored.ts';
import { found, principal, type Users } from './users.ts';
import type { Simulation } from './world.ts';

const patienceMs = 5000;

/** Decisions by call. */
type Decided = Map<string, number>;

export const approve = async (users: Users, root: SessionId): Promise<void> => {
  const { platform, until } = users;
  const { sim, table } = platform;
  const { random } = sim;
  const decided: Decided = new Map();
  let wasThere = false;
  for (;;) {
    await sim.pause(sim.now() > until ? patienceMs : random.spread(300, 40_000));
    const isThere = sessionOf(table, root) !== undefined;
    if (wasThere && !isThere) return;
    wasThere = isThere;
    for (const { id } of [{ id: root }, ...childrenOf(table, root)]) await decideFor(users, id, decided);
  }
};

const decideFor = async ({ platform }: Users, id: SessionId, decided: Decided): Promise<void> => {
  const { sim, settings } = platform;
  const { random } = sim;
  const state = turnOf(platform.table, id);
  const waiting =
    state.kind === 'deciding' ? state.calls.find(({ status }) => status === 'pending') : undefined;
  if (waiting === undefined || state.kind !== 'deciding') return;
  const { trial } = waiting;
  if (trial?.state === 'due') return;
  // A call whose result is outdated is decided again, by another trial.
  const tried = trial?.state === 'tried' ? trial : undefined;
  const key = `${state.turnId} ${state.step} ${waiting.callId} ${tried?.session}`;
  const approved = random.chance(0.75);
  const decision = {
    callId: waiting.callId,
    approved,
    // Some clients say what they saw, some say only yes.
    ...(random.chance(0.5) ? { digest: waiting.digest, turnId: state.turnId } : {}),
    ...(approved && tried !== undefined ? { effectDigest: digestFor(sim, tried) } : {}),
    ...(approved && random.chance(0.15) ? { remember: 'session' as const } : {}),
    ...(approved && random.chance(0.1) ? { args: { ...waiting.args, edited: true } } : {}),
  };
  const decide = async (): Promise<void> => {
    const ended = await platform.request('approval', async (ports) =>
      decideCall(ports, {
        sessionId: id,
        callId: waiting.callId,
        find: () => found(ports, id),
        decisionOf: () => decision,
        principal,
        limits: settings.limits,
      }),
    );
    if (ended.status !== 'done') return;
    decided.set(key, (decided.get(key) ?? 0) + 1);
    if (waiting.callId.startsWith('call-') && (decided.get(key) ?? 0) > 1)
      sim.violate('a decision counts once', `${id}: ${key}`);
  };
  if (sim.further.chance(0.4)) await look(platform, id);
  if (random.chance(0.2)) void decide();
  await decide();
  if (random.chance(0.1)) await decide();
};

/** Some decide about another effect than the one that they were shown. */
const digestFor = ({ further }: Simulation, { effectDigest }: TriedCall): string =>
  further.chance(0.1) ? 'of another effect' : effectDigest;

/** The prompt is read before it is decided, which brings the sandbox back. */
const look = async (platform: Platform, id: SessionId): Promise<void> => {
  await platform.request('prompt', async (ports) =>
    restartForPrompt(ports, await found(ports, id), principal),
  );
  await platform.sim.pause(platform.sim.further.spread(100, 20_000));
};
