/**
 * Power cuts at random moments of turns whose tools leave a trace: nothing runs twice, everything ends and is said.
 *
 * A cut turn goes on with the first sweep of the next life: a second one would come in an hour. Each call writes its own
 * line twice: into the workspace, which may lose it with its sandbox, and into a folder of this machine that no power cut takes
 * back, where a call that ran again would show. POWER_CUTS asks for more cuts.
 */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { toolOutput } from './agent.ts';
import { eventually } from './embedded-cloud.ts';
import { makeHomePath, type Server, startServer } from './server.ts';
import type { Received } from './socket-client.ts';

type Logged = Pick<Received, 'type' | 'data'> & { readonly index: number };

const started: Server[] = [];
afterAll(() => Promise.all(started.map((server) => server.stop())));

// biome-ignore lint/style/noProcessEnv: the test run is a program of its own, and this is its one read
const cuts = Math.max(10, Number(process.env['POWER_CUTS'] ?? 0));
const delayMsMax = 6000;
/** A cut at its latest moment and a start on a busy machine; then what is left has to come to its end. */
const [cutMsMax, endMsMax] = [25_000, 240_000];
const seed = Date.now() % 2 ** 31;

/** Numbers from 0 to 1 that the seed decides (mulberry32). */
const randomFrom = (start: number): (() => number) => {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const ask = async <T>({ request }: Server, path: string, body?: object): Promise<T> => {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await request(path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
};

const eventsOf = async (server: Server, id: string): Promise<readonly Logged[]> =>
  (await ask<{ events: readonly Logged[] }>(server, `/api/sessions/${id}/events`)).events;

const marks = (place: number): readonly string[] => [`mark-${place}-a`, `mark-${place}-b`];
const messageOf = (place: number) => ({
  messageId: `m${place}`,
  text: marks(place)
    .map((mark) => `$ sleep 0.2; echo ${mark} | tee -a marks.txt >> /shared/marks.txt; sleep 0.2`)
    .join('\n'),
});

/** True when the server took it before it died. */
const send = async (server: Server, id: string, place: number): Promise<boolean> => {
  try {
    await ask(server, `/api/sessions/${id}/messages`, messageOf(place));
    return true;
  } catch {
    // The power was cut meanwhile: the client does not know, and sends it again.
    return false;
  }
};

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');
const repeated = (lines: readonly string[]): readonly string[] =>
  lines.filter((line, place) => lines.indexOf(line) !== place);

const isOf = (event: Logged, type: string): boolean => event.type === type;

/** The fate of a call by the log: its output or failure, and whether a sandbox ended after that. */
const fateOf = (events: readonly Logged[], mark: string) => {
  const call = events.find(
    (event) => isOf(event, 'tool:call') && event.data.args.command.includes(`${mark} `),
  );
  const end = events.find(
    (event) =>
      (isOf(event, 'tool:output') || isOf(event, 'agent:error')) && event.data.callId === call?.data.callId,
  );
  const isLostAfter = events.some(
    (event) => event.data.kind === 'sandbox_stopped' && event.index > (end?.index ?? 0),
  );
  return { end, isLostAfter };
};

test(
  `through ${cuts} power cuts nothing runs twice and every message is completed once (seed ${seed})`,
  async () => {
    const home = await makeHomePath();
    const shared = await mkdtemp(join(tmpdir(), 'sallyport-shared-'));
    // Sandboxes write here as another user.
    await chmod(shared, 0o777);
    // No lease runs out and no second sweep comes in time: whatever goes on does so with the start.
    const variables = {
      TURN_LEASE_SECONDS: '300',
      SALLYPORT_SWEEP_SECONDS: '3600',
      MSB_SHARED_VOLUME_PATH: shared,
    };
    const random = randomFrom(seed);
    const begin = async (): Promise<Server> => {
      const one = await startServer({ home, variables });
      started.push(one);
      return one;
    };
    let server = await begin();
    const { id } = await ask<{ id: string }>(server, '/api/sessions', { approvals: 'auto', flavor: 'micro' });
    const unsure = new Set<number>();
    for (let place = 0; place < cuts; place += 1) {
      for (const earlier of [...unsure]) if (await send(server, id, earlier)) unsure.delete(earlier);
      const sending = send(server, id, place);
      await sleep(random() ** 2 * delayMsMax);
      await server.kill();
      if (!(await sending)) unsure.add(place);
      server = await begin();
    }
    for (const earlier of unsure) expect(await send(server, id, earlier)).toBe(true);

    const events = await eventually(
      () => eventsOf(server, id),
      (logged) => logged.filter((event) => isOf(event, 'completion')).length >= cuts,
      120_000,
    );
    expect(events.map(({ index }) => index)).toEqual(events.map((_, index) => index));
    const turns = events.filter(
      ({ type, data }) => type === 'completion' || (type === 'message' && data.role === 'user'),
    );
    expect(turns.map(({ type }) => type)).toEqual(
      Array.from({ length: 2 * cuts }, (_, index) => (index % 2 === 0 ? 'message' : 'completion')),
    );
    expect(new Set(turns.flatMap(({ data }) => data.messageId ?? [])).size).toBe(cuts);

    const last = { messageId: 'last', text: '$ touch marks.txt; cat marks.txt' };
    await ask(server, `/api/sessions/${id}/messages`, last);
    const all = await eventually(
      () => eventsOf(server, id),
      (logged) => logged.filter((event) => isOf(event, 'completion')).length > cuts,
      90_000,
    );
    const shown = toolOutput(all.slice(events.length) as unknown as readonly Received[]);
    const lines = linesOf(shown);
    expect(repeated(lines)).toEqual([]);
    const written = linesOf(await readFile(join(shared, 'marks.txt'), 'utf8'));
    expect(repeated(written)).toEqual([]);
    for (const mark of Array.from({ length: cuts }, (_, place) => marks(place)).flat()) {
      const { end, isLostAfter } = fateOf(events, mark);
      expect(end, `${mark} has no end`).toBeDefined();
      if (end?.type === 'tool:output') expect(written).toContain(mark);
      const isAccountedFor = lines.includes(mark) || end?.type === 'agent:error' || isLostAfter;
      expect(isAccountedFor, `${mark} is said to have run and left nothing`).toBe(true);
    }
    expect(await server.stop()).toBe(0);
    for (const folder of [home, shared]) await rm(folder, { recursive: true, force: true });
  },
  cuts * cutMsMax + endMsMax,
);
