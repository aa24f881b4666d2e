/**
 * `npm run prove:upgrade -- <commit>`: fifty turns in flight while the functions of that revision are replaced by these and
 * rolled back, again and again until all have ended; the table and the sandboxes stay. First with sandboxes of that revision, which
 * an upgrade meets, then with those of this one, which a rollback meets.
 *
 * Half of the turns wait for a person, who answers whichever code runs. The exit code is 1 when a message is not answered once, a
 * command has not run once, or a request is refused. The commit's functions run with the packages that are installed here.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { start as startEcs } from '../../local/ecs/start.ts';
import { provideSystemPrograms } from '../../local/system-programs.ts';
import { makeSession, showSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { atLeast, exactly, type Finding, printFindings } from './proof.ts';

const turns = 50;
/** Sandboxes are shared, since fifty of them say no more. */
const workspaces = 5;
const commands = 3;
/** Between two deploys; shorter than a command. */
const pauseMs = 3000;
const deploysMax = 100;
const minutesMax = 40;
const repository = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
const progress = (line: string): void => void process.stderr.write(`upgrade: ${line}\n`);

type Logged = { readonly type: string; readonly data: Readonly<Record<string, unknown>> };
type Asking = { readonly id: string; readonly place: number; readonly waits: boolean };

const checkOut = async (commit: string, folder: string): Promise<void> => {
  await run('git', ['worktree', 'add', '--detach', folder, commit], { cwd: repository });
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
};

const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });

const logOf = async (cloud: EmbeddedCloud, id: string): Promise<readonly Logged[]> =>
  (await cloud.ask<{ events: readonly Logged[] }>(`/api/sessions/${id}/events?limit=1000`)).events;

/** One line of `marks` for each run of a command; each runs over one of the deploys. */
const textOf = (place: number): string =>
  ['first', 'second', 'third']
    .map((name) => `$ sleep 6; echo ${place}-${name} >> marks; echo ${name} done`)
    .join('\n');

const begin = async (cloud: EmbeddedCloud): Promise<readonly Asking[]> => {
  const first = await Promise.all(
    Array.from({ length: workspaces }, () => makeSession(cloud, { flavor: 'micro', approvals: 'auto' })),
  );
  return Promise.all(
    Array.from({ length: turns }, async (_, place) => {
      const waits = place % 2 === 1;
      const workspace = first[place % workspaces]?.workspace;
      const { id } = await makeSession(cloud, {
        ...{ flavor: 'micro', workspace, approvals: waits ? 'ask' : 'auto' },
      });
      await cloud.ask(`/api/sessions/${id}/messages`, post({ text: textOf(place) }));
      return { id, place, waits };
    }),
  );
};

/** Approves one call of each session that waits. */
const approveOnce = async (cloud: EmbeddedCloud, sessions: readonly Asking[]): Promise<void> => {
  for (const { id } of sessions.filter(({ waits }) => waits)) {
    const [call] = (await showSession(cloud, id)).pendingApprovals ?? [];
    if (call === undefined) continue;
    const decision = post({ approved: true, digest: call.digest });
    await cloud.ask(`/api/sessions/${id}/approvals/${call.callId}`, decision);
  }
};

/** Logs of all sessions; `deploys` counts those while a turn was in flight. */
const alternate = async (cloud: EmbeddedCloud, sessions: readonly Asking[], old: string) => {
  const current = join(repository, 'functions');
  for (let deploys = 0; deploys < deploysMax; deploys += 1) {
    await sleep(pauseMs);
    const logs = await Promise.all(sessions.map(({ id }) => logOf(cloud, id)));
    const ended = logs.filter(isAnswered).length;
    if (ended === sessions.length) return { logs, deploys };
    const isNew = deploys % 2 === 0;
    cloud.deploy(isNew ? current : old);
    progress(`${ended} turns have ended; ${isNew ? 'the new code' : 'a rollback'}`);
    await approveOnce(cloud, sessions);
  }
  throw new Error(`the turns have not ended after ${deploysMax} deploys`);
};

const rehearse = async (cloud: EmbeddedCloud, old: string): Promise<readonly Finding[]> => {
  const sessions = await begin(cloud);
  progress(`${sessions.length} turns run with the old code`);
  const { logs, deploys } = await alternate(cloud, sessions, old);
  const marks = await Promise.all(
    sessions.slice(0, workspaces).map(async ({ id }) => {
      const response = await cloud.request(`/api/sessions/${id}/files/marks`);
      const text = await response.text();
      if (!response.ok) throw new Error(`the marks of ${id} cannot be read: ${response.status} ${text}`);
      return text.split('\n').filter((line) => line !== '');
    }),
  );
  for (const { data } of logs.flat().filter(({ type }) => type === 'agent:error'))
    progress(`told to a client: ${JSON.stringify(data)}`);
  const ran = marks.flat();
  const count = (type: string): number => logs.flat().filter((event) => event.type === type).length;
  const runs = logs.flatMap((log) => log.filter(({ type }) => type === 'tool:output'));
  const failed = runs.filter(({ data }) => !said(data).includes('done'));
  for (const { data } of failed) progress(`no success: ${JSON.stringify(data).slice(0, 300)}`);
  return [
    atLeast('deploys and rollbacks while turns ran', deploys, 3),
    exactly('turns that ended', count('completion'), turns),
    exactly('errors told to clients', count('agent:error'), 0),
    exactly('commands that ran', new Set(ran).size, commands * turns),
    exactly('commands that ran twice', ran.length - new Set(ran).size, 0),
    exactly('results of commands', runs.length, commands * turns),
    exactly('results that are no success', failed.length, 0),
  ];
};

const isAnswered = (log: readonly Logged[]): boolean => log.some(({ type }) => type === 'completion');
const said = (data: Logged['data']): string => JSON.stringify(data['content']);

type Rehearsal = {
  readonly commit: string;
  readonly old: string;
  readonly sandboxes: 'of before' | 'of this revision';
};

/** As on AWS; functions of older revisions know no other. */
const sandboxPort = 8080;

const rehearseWith = async ({ commit, old, sandboxes }: Rehearsal): Promise<boolean> => {
  const { start: startOld } = (await import(join(old, 'local/ecs/start.ts'))) as { start: typeof startEcs };
  const startHost = sandboxes === 'of before' ? startOld : startEcs;
  const cloud = await openEmbeddedCloud({
    ...{ functionsFolder: join(old, 'functions'), sweepMs: 1000 },
    startSandboxHost: (options) => startHost({ ...options, port: sandboxPort }),
    variables: { MSB_MAX_SESSIONS: '100', MAX_AGENT_SLOTS: '100' },
  });
  try {
    const findings = await rehearse(cloud, join(old, 'functions'));
    printFindings(
      `upgrade: ${turns} turns from ${commit} to this revision, with a rollback, in sandboxes ${sandboxes}`,
      findings,
    );
    return findings.every(({ isMet }) => isMet);
  } finally {
    const printed = join(tmpdir(), `sallyport-upgrade-${process.pid}-${sandboxes.replaceAll(' ', '-')}.log`);
    await writeFile(printed, cloud.printed());
    progress(`what functions and sandboxes printed is in ${printed}`);
    await cloud.stop();
  }
};

const main = async (commit: string | undefined): Promise<boolean> => {
  if (commit === undefined) throw new Error('usage: npm run prove:upgrade -- <commit of the old release>');
  // biome-ignore lint/style/noProcessEnv: this is a program of its own, and this is its one read
  await provideSystemPrograms(process.env);
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-upgrade-'));
  const old = join(folder, 'old');
  await checkOut(commit, old);
  try {
    const before = await rehearseWith({ commit, old, sandboxes: 'of before' });
    return (await rehearseWith({ commit, old, sandboxes: 'of this revision' })) && before;
  } finally {
    await run('git', ['worktree', 'remove', '--force', old], { cwd: repository });
    await rm(folder, { recursive: true, force: true });
  }
};

setTimeout(() => {
  process.stderr.write(`not done in ${minutesMax} minutes\n`);
  process.exit(1);
}, minutesMax * 60_000).unref();

main(process.argv[2]).then(
  (isMet) => process.exit(isMet ? 0 : 1),
  (cause: unknown) => {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
    process.exit(1);
  },
);
