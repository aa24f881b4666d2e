/**
 * The cost of a fork: the requests to the bucket of its creation and of its first start, beside those of a plain restore of
 * the same files, and the ratio of their times on this machine.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RecordedCall } from '../../local/recorder/start.ts';
import { openEmbeddedCloud } from '../../tests/e2e/embedded-cloud.ts';
import { type BenchResult, table } from './report.ts';

const megabyte = 1_048_576;
const partBytes = 4 * megabyte;
const path = 'large.bin';
/** Both allow for a busy machine: longer than this means stuck. */
const stopWaitMsMax = 600_000;
const startAsksMax = 20;
/** The latest words of the functions, when a request of the bench fails. */
const warningsShown = 5;

export type ForkSize = {
  readonly megabytes: number;
  /** Both start a sandbox and read the same bytes; the machine does other work beside them. */
  readonly ratioMax: number;
  /**
   * The least time of all rounds counts, of a restore before each fork and one after the last. On a busy machine both come closer to
   * what they cost with each round, so that there are more rounds while the ratio is not met.
   */
  readonly rounds: { readonly min: number; readonly max: number };
  readonly progress?: (line: string) => void;
};
const sizeDefault: ForkSize = { megabytes: 64, ratioMax: 2, rounds: { min: 1, max: 3 } };

type Ask = (path: string, init?: RequestInit) => Promise<Response>;
type Measured = { readonly writes: number; readonly reads: number; readonly ms: number };

export const forkCost = async ({
  megabytes,
  ratioMax,
  rounds,
  progress = () => undefined,
}: ForkSize = sizeDefault): Promise<BenchResult> => {
  await using cleaning = new AsyncDisposableStack();
  const calls: RecordedCall[] = [];
  const cloud = await openEmbeddedCloud({ recordCall: (call) => calls.push(call) });
  cleaning.defer(cloud.stop);
  const ask: Ask = async (at, init = {}) => {
    const headers = {
      ...{ authorization: `Bearer ${cloud.token}`, 'content-type': 'application/json' },
      ...init.headers,
    };
    for (let time = 1; ; time += 1) {
      const response = await fetch(`${cloud.url}${at}`, { ...init, headers });
      if (response.ok) return response;
      const text = await response.text();
      // A gigabyte may take longer than one request waits for a sandbox: a client asks again.
      if (!text.includes('"sandbox_starting"') || time === startAsksMax) {
        const warnings = cloud
          .printed()
          .split('\n')
          .filter((line) => /"level":"(WARN|ERROR)"/.test(line));
        for (const warning of warnings.slice(-warningsShown)) progress(warning);
        throw new Error(`${init.method ?? 'GET'} ${at}: ${text}`);
      }
    }
  };
  const measure = (work: () => Promise<unknown>) => measured(calls, work);
  const source = await makeSession(ask, {});
  await fill(ask, source, megabytes);
  progress('the files are written and saved');
  const snapshot = await idOf(await post(ask, `/api/sessions/${source}/snapshots`, {}));
  const restore = async (): Promise<Measured> => {
    await post(ask, `/api/sessions/${source}/restore`, { snapshot });
    await stopped(ask, source);
    const restored = await measure(() => listFiles(ask, source));
    progress(`restored in ${Math.round(restored.ms)} ms`);
    return restored;
  };
  const plain: Measured[] = [];
  const forks: Measured[] = [];
  const rows: (readonly [string, Measured])[] = [];
  const ratio = (): number => leastMs(forks) / leastMs(plain);
  plain.push(await restore());
  for (let round = 0; round < rounds.max && (round < rounds.min || ratio() > ratioMax); round += 1) {
    let fork = '';
    const created = await measure(async () => {
      fork = await makeSession(ask, { from: { snapshot } });
    });
    const started = await measure(() => listFiles(ask, fork));
    await ask(`/api/sessions/${fork}`, { method: 'DELETE' });
    forks.push(sumOf(created, started));
    progress(`forked in ${Math.round(created.ms + started.ms)} ms`);
    rows.push(['fork, created', created], ['fork, first start', started]);
    plain.push(await restore());
  }
  rows.unshift(...plain.map((one) => ['plain restore', one] as const));
  const writes = forks.reduce((sum, fork) => sum + fork.writes, 0);
  const readsMax = Math.max(...forks.map(({ reads }) => reads));
  return {
    title: `a fork of ${megabytes} MB beside a plain restore`,
    text: table(
      ['', 'writes to the bucket', 'reads', 'ms'],
      rows.map(([name, row]) => [name, row.writes, row.reads, Math.round(row.ms)]),
    ),
    floor: `a fork writes nothing, reads no more than a restore, and takes at most ${ratioMax} times as long (${ratio().toFixed(2)})`,
    isMet: writes === 0 && readsMax <= Math.max(...plain.map(({ reads }) => reads)) && ratio() <= ratioMax,
  };
};

const sumOf = (one: Measured, other: Measured): Measured => ({
  writes: one.writes + other.writes,
  reads: one.reads + other.reads,
  ms: one.ms + other.ms,
});

const leastMs = (all: readonly Measured[]): number => Math.min(...all.map(({ ms }) => ms));

const measured = async (calls: readonly RecordedCall[], work: () => Promise<unknown>): Promise<Measured> => {
  const from = calls.length;
  const startedAt = performance.now();
  await work();
  const ms = performance.now() - startedAt;
  const ofBucket = calls.slice(from).filter(({ service }) => service === 's3');
  const actions = ofBucket.flatMap(({ authorisations }) => authorisations.map(({ action }) => action));
  const reads = actions.filter((action) => /Get|List/.test(action)).length;
  return { ms, reads, writes: actions.length - reads };
};

const post = (ask: Ask, at: string, body: object): Promise<Response> =>
  ask(at, { method: 'POST', body: JSON.stringify(body) });

const idOf = async (response: Response): Promise<string> =>
  String(((await response.json()) as { readonly id: string }).id);

const makeSession = async (ask: Ask, options: object): Promise<string> =>
  idOf(await post(ask, '/api/sessions', { kind: 'execution', flavor: 'micro', ...options }));

/** In parts, as a client sends a large file. */
const fill = async (ask: Ask, session: string, megabytes: number): Promise<void> => {
  const total = megabytes * megabyte;
  for (let at = 0; at < total; at += partBytes) {
    await ask(`/api/sessions/${session}/files/${path}`, {
      method: 'PUT',
      body: Buffer.alloc(partBytes, at / partBytes + 1),
      headers: {
        'content-type': 'application/octet-stream',
        'content-range': `bytes ${at}-${at + partBytes - 1}/${total}`,
      },
    });
  }
};

/** The listing alone: the start and its restore are measured, not a download. */
const listFiles = async (ask: Ask, session: string): Promise<void> => {
  const response = await ask(`/api/sessions/${session}/files`);
  if (!(await response.text()).includes(path)) throw new Error('the file was not restored');
};

const stopped = async (ask: Ask, session: string): Promise<void> => {
  const until = performance.now() + stopWaitMsMax;
  for (;;) {
    const shown = (await (await ask(`/api/sessions/${session}`)).json()) as {
      readonly sandbox?: { readonly state: string };
    };
    if (shown.sandbox?.state === 'stopped') return;
    if (performance.now() > until) throw new Error('the sandbox does not stop');
    await delay(100);
  }
};
