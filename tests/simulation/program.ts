/** A program that runs code by the API; it repeats what was not answered, and looks whether its answers are true. */
import { type Executed, execute } from '#shared/application/execution/execute.ts';
import type { SessionOptions } from '#shared/application/session/new-session.ts';
import { endSession } from '#shared/application/turn/requests/end-session.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { Platform } from './platform.ts';
import { workspaceOf } from './stored.ts';
import { defaultsOf, found, pauseSome, principal, type Users } from './users.ts';

type Inside = Pick<SessionOptions, 'project' | 'ref'>;

/** A program that runs code, in a new session or in one it had. */
export const startProgram = async ({ platform, until }: Users, inside: Inside = {}): Promise<void> => {
  const { sim } = platform;
  const { random } = sim;
  let sessionId: string | undefined;
  for (let call = random.int(1, 4); call > 0; call -= 1) {
    await pauseSome(sim, random.spread(100, 60_000));
    if (sim.now() > until) return;
    if (sessionId !== undefined && random.chance(0.15)) await stop(platform, sessionId as SessionId);
    const once = () => runOnce(platform, sessionId, inside);
    if (random.chance(0.2)) void once();
    const ended = await once();
    if (ended.status === 'done') sessionId = ended.value.session.id;
    else if (random.chance(0.7)) sessionId = undefined;
  }
};

const stop = (platform: Platform, id: SessionId) =>
  platform.request('stop', async (ports) => {
    const { session } = await found(ports, id);
    await endSession(ports, session, { reason: 'the program stopped it' });
  });

const runOnce = async (platform: Platform, sessionId: string | undefined, inside: Inside) => {
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
      options: { allowSmallerFlavor: sim.random.chance(0.5), ...inside },
      defaults: defaultsOf(platform),
      wait: { waitSeconds, evictIdle, signal: leaves.signal },
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

/** An answered call was performed, once, and its files are kept or reported as not saved (L11). */
const checkExecution = ({ sim, ledger, table, bucket, ecs }: Platform, executed: Executed): void => {
  const key = String(executed.structured['key'] ?? '');
  if (key === '') return;
  const performed = ledger.get(key);
  if (performed?.end?.status !== 'finished') sim.violate('an answer is that of the call', key);
  if (executed.notices.some((notice) => notice.includes('not saved'))) return;
  const { workspace } = executed.session;
  const { sandbox, checkpoint } = workspaceOf(table, workspace);
  const task = ecs.tasks.find(({ taskArn }) => taskArn === performed?.taskArn);
  const isThere =
    sandbox?.state === 'ready' && sandbox.taskArn === task?.taskArn && task?.desired === 'RUNNING';
  if (isThere && !bucket.get(checkpoint?.id ?? '')?.lines.includes(key))
    sim.violate('L11: what was told as done is in a checkpoint', key);
};
