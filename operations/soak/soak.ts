/** One soak: the platform and what surrounds it are started, work and faults run side by side, and a record is left. */
import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { branch, openRandom } from '../../tests/simulation/random.ts';
import { turns } from './agent-work.ts';
import { askerOf } from './client.ts';
import { startCrew, startSchedule } from './crew.ts';
import { startFaults } from './faults.ts';
import { stoppedState } from './host.ts';
import { openModelServer } from './model-server.ts';
import { startPlatform } from './platform.ts';
import { openReceiver } from './receiver.ts';
import type { SoakRecord } from './record.ts';
import { startSampling } from './samples.ts';
import type { Scene } from './session.ts';
import { endAll, restState } from './settle.ts';

export type SoakOptions = {
  readonly minutes: number;
  readonly seed: number;
  /** 0: a free one. */
  readonly port: number;
  /** The folder under which the soak has its own; it stays when the audit fails. */
  readonly under?: string | undefined;
  readonly atOnce?: number | undefined;
  readonly progress: (line: string) => void;
};

export type Soaked = {
  readonly record: SoakRecord;
  readonly faults: Readonly<Record<string, number>>;
  readonly folder: string;
};

const progressMs = 10_000;
const sweepSeconds = 5;
const perProcessor = 3;

export const soak = async (options: SoakOptions): Promise<Soaked> => {
  const { minutes, seed, port, under = tmpdir(), progress } = options;
  const atOnce = options.atOnce ?? 2 + perProcessor * availableParallelism();
  const random = openRandom(seed);
  await mkdir(under, { recursive: true });
  const folder = await mkdtemp(join(under, 'sallyport-soak-'));
  const [home, shared] = [join(folder, 'home'), join(folder, 'shared')];
  await mkdir(shared);
  // Sandboxes write here as other users.
  await chmod(folder, 0o755);
  await chmod(shared, 0o777);

  await using stopping = new AsyncDisposableStack();
  const model = await openModelServer(branch(random));
  stopping.defer(model.stop);
  const receiver = await openReceiver();
  stopping.defer(receiver.stop);
  const variables = variablesOf({ shared, model: model.url, receiver: receiver.host, atOnce });
  const platform = await startPlatform({ home, port, variables });
  stopping.defer(platform.stop);
  const ask = askerOf(platform);
  const scene: Omit<Scene, 'random'> = { target: platform, ask, shared, listeners: new Set() };
  await ask('/api/webhooks', {
    body: { url: `http://${receiver.host}/hooks`, events: ['turn_completed', 'turn_failed'] },
  });

  progress(`${atOnce} sessions at once for ${minutes} minutes at ${platform.url}, data in ${folder}`);
  const warm = await turns({ ...scene, random: branch(random) });
  const before = (await restState(platform, home, { calmSince: Date.now() })).host;

  const endSchedule = await startSchedule(ask);
  const soakMs = minutes * 60_000;
  const crew = startCrew(scene, branch(random), atOnce);
  const faults = startFaults(
    { platform, home, listeners: scene.listeners, receiver },
    branch(random),
    soakMs,
  );
  const failed: { work: string; error: string }[] = [];
  const sampling = startSampling(platform, ask, (error) => failed.push({ work: 'sample', error }));
  const begun = Date.now();
  while (Date.now() - begun < soakMs) {
    await sleep(Math.min(progressMs, Math.max(0, begun + soakMs - Date.now())));
    progress(progressOf(begun, crew, faults.counts));
  }
  await sampling.end();
  await faults.end();
  const calmSince = Date.now();
  progress('no more faults and no more work: what runs comes to its end');
  await crew.finish();
  const schedule = await endSchedule();
  const ended = await endAll(ask);
  progress(`${ended} more sessions ended, the sweeps put away what is left`);
  const { items, left, host: after } = await restState(platform, home, { before, calmSince });
  await platform.stop();
  const stopped = await stoppedState(home);
  return {
    folder,
    faults: { ...faults.counts, 'provider failures': model.failures() },
    record: {
      sessions: [warm, ...crew.sessions],
      failed: [...failed, ...crew.failed],
      delivered: receiver.delivered,
      schedules: [schedule],
      ...{ items, left },
      host: { before, after: { ...after, processes: after.processes + stopped.processes } },
      samples: sampling.samples,
    },
  };
};

const progressOf = (
  begun: number,
  { sessions, failed }: { readonly sessions: readonly unknown[]; readonly failed: readonly unknown[] },
  faults: Readonly<Record<string, number>>,
): string => {
  const seconds = Math.round((Date.now() - begun) / 1000);
  const struck = Object.entries(faults).map(([name, count]) => `${count} ${name}`);
  return `${seconds} s: ${sessions.length} sessions done, ${failed.length} failed; ${struck.join(', ')}`;
};

type Surroundings = {
  readonly shared: string;
  readonly model: string;
  readonly receiver: string;
  readonly atOnce: number;
};

const variablesOf = ({
  shared,
  model,
  receiver,
  atOnce,
}: Surroundings): Readonly<Record<string, string>> => ({
  SALLYPORT_SWEEP_SECONDS: String(sweepSeconds),
  TURN_LEASE_SECONDS: '5',
  LLM_PROVIDER: 'demo',
  ANTHROPIC_API_KEY: 'a-key-of-nobody',
  ANTHROPIC_BASE_URL: model,
  MSB_SHARED_VOLUME_PATH: shared,
  MSB_DEFAULT_FLAVOR: 'micro',
  MSB_MAX_SESSIONS: '100',
  MAX_AGENT_SLOTS: String(100 + atOnce),
  RATE_LIMIT_PER_SECOND: '10000',
  RATE_LIMIT_BURST: '20000',
  WEBHOOK_ALLOWED_PRIVATE_HOSTS: receiver,
  WEBHOOK_RETRY_SECONDS: '1',
});
