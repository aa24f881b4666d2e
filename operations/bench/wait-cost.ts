/**
 * The time that a turn needs to continue after it waited for a person: from the decision to the result of its call, compared
 * with a plain restore of the same workspace, which is measured before and after it in each round.
 *
 * The sandbox of a waiting turn is saved and stopped. A person who decides at once waits for a start and a restore. One who had
 * the prompt open before waits for neither.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { openEmbeddedCloud } from '../../tests/e2e/embedded-cloud.ts';
import { type BenchResult, table } from './report.ts';
import { timed } from './speed/beside.ts';
import { median } from './speed/figures.ts';
import { type Ask, askOf, makeSession } from './speed/platform.ts';
import { openSocket, type Socket } from './speed/socket.ts';

const rounds = 5;
/** Of the decision to a plain restore. */
const ratioMax = 1.5;
const stopSeconds = 4;
const megabytes = 32;
const smallFiles = 300;
const waitMsMax = 300_000;
const lookMs = 50;

export const waitCost = async (): Promise<BenchResult> => {
  await using cleaning = new AsyncDisposableStack();
  const cloud = await openEmbeddedCloud({
    variables: { LLM_PROVIDER: 'demo', WAIT_STOP_SECONDS: String(stopSeconds) },
    sweepMs: 1000,
  });
  cleaning.defer(cloud.stop);
  const ask = askOf(cloud);
  const id = await makeSession(ask, {
    ...{ kind: 'agent', flavor: 'micro', approvals: 'ask', idleSeconds: stopSeconds },
  });
  const socket = await openSocket(cloud, { sessionId: id });
  cleaning.defer(socket.close);
  const session: Waiting = { ask, id, socket };
  await fill(session);
  // The first of each is dropped: it loads code and opens connections.
  await plain(session);
  await decided(session, false);
  const all: Round[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = await plain(session);
    const atOnce = await decided(session, false);
    const opened = await decided(session, true);
    all.push({ before, atOnce, opened, after: await plain(session) });
  }
  return reportOf(all);
};

type Waiting = { readonly ask: Ask; readonly id: string; readonly socket: Socket };
type Round = {
  readonly before: number;
  readonly atOnce: number;
  readonly opened: number;
  readonly after: number;
};

const reportOf = (all: readonly Round[]): BenchResult => {
  const floorMs = median(all.flatMap(({ before, after }) => [before, after]));
  const atOnceMs = median(all.map(({ atOnce }) => atOnce));
  const openedMs = median(all.map(({ opened }) => opened));
  const ratio = atOnceMs / floorMs;
  return {
    title: `a turn that waited with ${megabytes} MB, back beside a plain restore, in ms`,
    text: table(
      ['round', 'restore before', 'decided at once', 'decided with the prompt open', 'restore after'],
      [
        ...all.map(({ before, atOnce, opened, after }, round) => [
          round + 1,
          ...[before, atOnce, opened, after].map(Math.round),
        ]),
        ['median', Math.round(floorMs), Math.round(atOnceMs), Math.round(openedMs), ''],
      ],
    ),
    floor: `back within ${ratioMax} times a plain restore (${ratio.toFixed(2)}; with the prompt open ${(openedMs / floorMs).toFixed(2)})`,
    isMet: ratio <= ratioMax,
  };
};

const fill = async ({ ask, id }: Waiting): Promise<void> => {
  const command = `head -c ${megabytes}000000 /dev/urandom > large.bin; mkdir small; for i in $(seq ${smallFiles}); do echo $i > small/$i; done`;
  await ask(`/api/sessions/${id}/exec`, { method: 'POST', body: JSON.stringify({ command }) });
};

/** A start, the restore, and the listing of a folder. */
const plain = async (session: Waiting): Promise<number> => {
  const { ask, id } = session;
  const former = await stopped(session);
  const ms = await timed(async () => {
    const text = await (await ask(`/api/sessions/${id}/files`)).text();
    if (!text.includes('large.bin')) throw new Error('the files were not restored');
  });
  if ((await sandboxOf(session)).readyAt === former.readyAt) throw new Error('no sandbox was started');
  return ms;
};

/** From the decision about a call to its result; its sandbox had stopped, and came back where an approver opened the prompt. */
const decided = async (session: Waiting, isOpened: boolean): Promise<number> => {
  const { ask, id, socket } = session;
  let callId = '';
  const asked = socket.follow(({ type, data }) => {
    callId = String(data['callId']);
    return type === 'tool:approval_required';
  });
  socket.say('$ ls');
  await asked;
  await stopped(session);
  const prompt = `/api/sessions/${id}/approvals/${callId}`;
  if (isOpened) {
    await ask(prompt);
    await until(session, ({ state }) => state === 'ready');
  }
  let isDone = false;
  const result = socket.follow(({ type, data }) => {
    isDone ||= type === 'tool:output' && JSON.stringify(data).includes('large.bin');
    return isDone;
  });
  const ms = await timed(async () => {
    await ask(prompt, { method: 'POST', body: JSON.stringify({ approved: true }) });
    await result;
  });
  return ms;
};

type Sandbox = { readonly state?: string; readonly readyAt?: string };

const sandboxOf = async ({ ask, id }: Waiting): Promise<Sandbox> => {
  const shown = (await (await ask(`/api/sessions/${id}`)).json()) as { readonly sandbox?: Sandbox };
  return shown.sandbox ?? {};
};

const stopped = (session: Waiting): Promise<Sandbox> => until(session, ({ state }) => state === 'stopped');

const until = async (session: Waiting, is: (sandbox: Sandbox) => boolean): Promise<Sandbox> => {
  for (const end = performance.now() + waitMsMax; performance.now() < end; await delay(lookMs)) {
    const sandbox = await sandboxOf(session);
    if (is(sandbox)) return sandbox;
  }
  throw new Error('the sandbox does not get there');
};
