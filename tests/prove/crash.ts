/**
 * `npm run prove:crash [-- --kills N] [--seed N]`: the program of one machine and everything below it is killed at random moments
 * of a steady stream of work, started again on its folder, and audited at the end.
 *
 * Conversations run commands that leave a mark, another sandbox runs a program in the background. The first progress of
 * unfinished work is timed from each restart's `ready`. The exit code is 1 when a message is not answered once, a command ran
 * twice, something was lost without a word, or work did not go on in time.
 */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { SallyportError } from '#sdk/errors.ts';
import { api } from '#sdk/routes.ts';
import { Sandbox } from '#sdk/sandbox.ts';
import { makeHomePath } from '../e2e/server.ts';
import { openRandom, type Random } from '../simulation/random.ts';
import { audit, type Evidence, type TalkEvidence } from './crash-audit.ts';
import { beginLife, type Ground, type Life } from './crash-life.ts';
import { clientOf, Talk } from './crash-talk.ts';
import { atLeast, exactly, type Finding, printFindings } from './proof.ts';

const talkCount = 3;
const progressMsMax = 10_000;
/** After which a lack of progress is taken for good. */
const patienceMsMax = 120_000;
const endMsMax = 300_000;
/** A death while the last one is not overcome yet, of which no progress is timed. */
const earlyChance = 0.2;
const [earlyMsMax, lateMsMax] = [3000, 5000];

type Course = {
  readonly random: Random;
  readonly ground: Ground;
  readonly talks: readonly Talk[];
  /** A sandbox for programs that outlive a request, and those that were started there. */
  readonly sandboxId: string;
  readonly programs: string[];
  /** Milliseconds to the slowest conversation's first progress, for each restart that found unfinished work. */
  readonly progressMs: number[];
  readonly numbers: { next: () => number };
};

const inSeconds = (times: readonly number[]): string => times.map((ms) => (ms / 1000).toFixed(1)).join(' ');
const print = (line: string): void => void process.stderr.write(`crash: ${line}\n`);

/** A failure of a request while the program lives ends the proof; in its death it says nothing. */
const untilOver = async (life: Life, work: Promise<unknown>): Promise<void> => {
  try {
    await work;
  } catch (cause) {
    if (!life.isOver()) throw cause;
  }
};

const runProgram = async (course: Course, life: Life): Promise<void> => {
  const sandbox = new Sandbox(clientOf(life), course.sandboxId);
  const { processId } = await sandbox.processes.start('while :; do date >> ticks.txt; sleep 1; done');
  course.programs.push(processId);
};

/** Milliseconds to the first progress of what was unfinished; undefined when nothing was. */
const goOn = async (talk: Talk, life: Life, diedAt: number): Promise<number | undefined> => {
  await talk.read(clientOf(life));
  if (talk.unfinished(diedAt).length === 0) return undefined;
  const at = await talk.progressAfter(life, diedAt, patienceMsMax);
  return Math.max(0, at - life.listensAt);
};

/** One life: progress of what the death before left unfinished, more work, and its death, whose time is given. */
const live = async (course: Course, diedAt: number): Promise<number> => {
  const { random, talks, numbers } = course;
  const isEarly = random.chance(earlyChance);
  const delayMs = random.int(0, isEarly ? earlyMsMax : lateMsMax);
  const startedAt = Date.now();
  const life = await beginLife(course.ground);
  const startS = ((life.listensAt - startedAt) / 1000).toFixed(1);
  const program = untilOver(life, runProgram(course, life));
  const waits: (number | undefined)[] = [];
  const work = talks.map((talk) =>
    untilOver(
      life,
      (async () => {
        waits.push(await goOn(talk, life, diedAt));
        await talk.stream(life, numbers);
      })(),
    ),
  );
  const failed = Promise.all([...work, program]);
  failed.catch(() => undefined);
  while (!isEarly && waits.length < talks.length)
    await Promise.race([sleep(20), failed.then(() => sleep(20))]);
  await sleep(delayMs);
  const goneAt = await life.die();
  await failed;
  const timed = waits.filter((wait) => wait !== undefined);
  if (!isEarly && timed.length > 0) course.progressMs.push(Math.max(...timed));
  const found = isEarly ? 'no progress awaited' : `progress after ${inSeconds(timed) || '–'} s`;
  const left = talks.map((talk) => talk.unfinished().length).join(' ');
  print(`listens after ${startS} s, ${found}; killed ${delayMs} ms later, with ${left} messages unfinished`);
  return goneAt;
};

const open = async (ground: Ground, random: Random): Promise<Course> => {
  const life = await beginLife(ground);
  const client = clientOf(life);
  const made = await Promise.all(
    Array.from({ length: talkCount }, () => client.request(api.makeSession, { body: { approvals: 'auto' } })),
  );
  const { id: sandboxId } = await client.request(api.makeSession, { body: { kind: 'execution' } });
  await life.die();
  let last = 0;
  return {
    ...{ random, ground, sandboxId, programs: [], progressMs: [] },
    talks: made.map(({ id }) => new Talk(id)),
    numbers: {
      next: () => {
        last += 1;
        return last;
      },
    },
  };
};

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

const presentIn = async (life: Life, id: string): Promise<readonly string[]> => {
  try {
    return linesOf(await new Sandbox(clientOf(life), id).files.read('marks.txt'));
  } catch (cause) {
    if (cause instanceof SallyportError && cause.status === 404) return [];
    throw cause;
  }
};

const settle = async (talk: Talk, life: Life): Promise<TalkEvidence> => {
  const client = clientOf(life);
  await talk.repeat(client);
  const deadline = Date.now() + endMsMax;
  do {
    await sleep(500);
    await talk.read(client);
  } while (talk.unfinished().length > 0 && Date.now() < deadline);
  const { events } = await client.request(api.readEvents, { params: { id: talk.id } });
  const { accepted, log, id } = talk;
  return { accepted: [...accepted], log, kept: events, present: await presentIn(life, id) };
};

const timing = (progressMs: readonly number[]): readonly Finding[] => {
  const ordered = progressMs.toSorted((one, other) => one - other);
  print(`seconds to progress: ${inSeconds(ordered)}`);
  return [
    atLeast('restarts that found unfinished work', ordered.length, 1),
    exactly(
      `of these without progress in ${progressMsMax / 1000} s`,
      ordered.filter((ms) => ms > progressMsMax).length,
      0,
    ),
  ];
};

const main = async (kills: number, seed: number): Promise<boolean> => {
  print(`${kills} kills, seed ${seed}`);
  const home = await makeHomePath();
  const shared = await mkdtemp(join(tmpdir(), 'sallyport-shared-'));
  // Sandboxes write here as another user.
  await chmod(shared, 0o777);
  const course = await open({ home, shared }, openRandom(seed));
  let diedAt = Date.now();
  for (let kill = 1; kill <= kills; kill += 1) {
    diedAt = await live(course, diedAt);
    print(`${kill} of ${kills}`);
  }
  const life = await beginLife(course.ground);
  const talks = await Promise.all(course.talks.map((talk) => settle(talk, life)));
  const { processes } = new Sandbox(clientOf(life), course.sandboxId);
  const programs = await Promise.all(
    course.programs.map(async (id) => (await processes.get(id).info()).state),
  );
  const written = linesOf(await readFile(join(shared, 'marks.txt'), 'utf8'));
  const evidence = { talks, written, programs };
  const findings = [...audit(evidence), ...timing(course.progressMs)];
  await life.server.stop();
  printFindings(`crash: ${kills} deaths of the machine's program, seed ${seed}`, findings);
  const isMet = findings.every((finding) => finding.isMet);
  if (isMet) for (const folder of [home, shared]) await rm(folder, { recursive: true, force: true });
  else await keep(evidence, { home, shared });
  return isMet;
};

/** For whoever looks for the cause. */
const keep = async (evidence: Evidence, { home, shared }: Ground): Promise<void> => {
  const file = join(shared, 'evidence.json');
  await writeFile(file, JSON.stringify(evidence, undefined, 2));
  print(`the data folder ${home} and ${file} are kept`);
};

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
});

main(Number(values.kills), Number(values.seed)).then(
  (isMet) => process.exit(isMet ? 0 : 1),
  (cause: unknown) => {
    process.stderr.write(`${cause instanceof Error ? cause.stack : String(cause)}\n`);
    process.exit(1);
  },
);
