/** Memory: of the platform at rest and with what it holds, of a sandbox, and of its server, whose CPU time is counted too. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bundleSandbox, compileCache, serverFlags } from '../../../sandbox-task/bundle.ts';
import type { Figure } from './figures.ts';
import { median } from './figures.ts';
import { askOf, inTurn, makeSession, type Platform } from './platform.ts';
import { openSocket, type Socket } from './socket.ts';

const atOnce = 40;
const sandboxesAtOnce = 4;
const settleMs = 3000;
const megabyte = 1_048_576;
const kilobyte = 1024;

/** Of a platform that has done nothing yet. */
export const memoryFigures = async (platform: Platform): Promise<readonly Figure[]> => {
  const ask = askOf(platform);
  const rest = async (): Promise<number> => {
    await delay(settleMs);
    return residentBytes(platform.pid);
  };
  const before = await rest();
  const ids = await inTurn(atOnce, () => makeSession(ask, {}));
  const withSessions = await rest();
  const sockets: Socket[] = [];
  for (const sessionId of ids) sockets.push(await openSocket(platform, { sessionId }));
  const withSockets = await rest();
  await Promise.all(sockets.map((socket) => socket.close()));
  const processes = await descendantsOf(platform.pid);
  const sandboxes = await inTurn(sandboxesAtOnce, () =>
    makeSession(ask, { kind: 'execution', flavor: 'micro' }),
  );
  const body = JSON.stringify({ command: 'true' });
  await Promise.all(
    sandboxes.map(async (id) =>
      (await ask(`/api/sessions/${id}/exec`, { method: 'POST', body })).arrayBuffer(),
    ),
  );
  await delay(settleMs);
  const added = (await descendantsOf(platform.pid)).filter((pid) => !processes.includes(pid));
  const shares = await Promise.all(added.map(shareBytes));
  const each = (bytes: number, count: number): number => bytes / count / kilobyte;
  return [
    {
      ...{ name: 'platform at rest', unit: 'MB', value: before / megabyte },
      target: { of: 'value', is: 'at most', bound: 200 },
    },
    { name: 'platform, per session', unit: 'kB', value: each(withSessions - before, atOnce) },
    { name: 'platform, per socket', unit: 'kB', value: each(withSockets - withSessions, atOnce) },
    {
      name: 'all processes of a sandbox',
      unit: 'MB',
      value: shares.reduce((sum, bytes) => sum + bytes, 0) / sandboxesAtOnce / megabyte,
    },
  ];
};

type Started = { readonly bytes: number; readonly cpuMs: number };

/** The sandbox's server to its first answer beside a Node that has nothing to do. */
export const serverFigures = async (tries: number): Promise<readonly Figure[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'));
  try {
    await chmod(folder, 0o755);
    await bundleSandbox(folder);
    await mkdir(join(folder, 'workspace'));
    const before = await several(startEmpty, tries);
    const server = await several(() => startServer(folder), tries);
    const after = await several(startEmpty, tries);
    const name = 'an empty Node';
    const floorOf = (of: (started: Started) => number) => ({ name, before: of(before), after: of(after) });
    const megabytes = ({ bytes }: Started): number => bytes / megabyte;
    const cpuMs = (started: Started): number => started.cpuMs;
    return [
      {
        ...{ name: "a sandbox's server, memory", unit: 'MB', value: megabytes(server) },
        floor: floorOf(megabytes),
        target: { of: 'value', is: 'at most', bound: 60 },
      },
      {
        ...{ name: "a sandbox's server, CPU to its first answer", unit: 'ms', value: cpuMs(server) },
        floor: floorOf(cpuMs),
        target: { of: 'ratio', is: 'at most', bound: 3 },
      },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const several = async (start: () => Promise<Started>, tries: number): Promise<Started> => {
  const all: Started[] = [];
  for (let one = 0; one < tries; one += 1) all.push(await start());
  return { bytes: median(all.map(({ bytes }) => bytes)), cpuMs: median(all.map(({ cpuMs }) => cpuMs)) };
};

const startEmpty = async (): Promise<Started> => {
  const program = "process.stdout.write('up'); setInterval(() => 0, 60_000)";
  const child = spawn(process.execPath, [...serverFlags, '-e', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return endWith(child);
};

const bearer = 'b'.repeat(64);

const startServer = async (folder: string): Promise<Started> => {
  const socketPath = join(folder, 'server.sock');
  await rm(socketPath, { force: true });
  const child = spawn(process.execPath, [...serverFlags, join(folder, 'server.mjs')], {
    stdio: 'ignore',
    env: {
      NODE_COMPILE_CACHE: join(folder, compileCache),
      NODE_COMPILE_CACHE_PORTABLE: '1',
      SANDBOX_LISTEN: `unix:${socketPath}`,
      SANDBOX_BEARER_SHA256: createHash('sha256').update(bearer).digest('hex'),
      SANDBOX_USER_LAUNCHER: '["env"]',
      SANDBOX_WORKSPACE: join(folder, 'workspace'),
    },
  });
  while (child.exitCode === null && !(await isAnswered(socketPath))) await delay(5);
  return endWith(child);
};

const isAnswered = (socketPath: string): Promise<boolean> =>
  new Promise((resolve) => {
    const headers = { authorization: `Bearer ${bearer}` };
    const asked = request({ socketPath, path: '/health', headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.once('error', () => resolve(false));
    asked.end();
  });

const endWith = async (child: ChildProcess): Promise<Started> => {
  const pid = child.pid ?? 0;
  const started = { bytes: await residentBytes(pid), cpuMs: await cpuMsOf(pid) };
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
  return started;
};

const residentBytes = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * kilobyte;
};

/** A page that several processes map counts in parts. */
const shareBytes = async (pid: number): Promise<number> => {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) * kilobyte;
};

/** In nanoseconds (proc_pid_schedstat); the ticks of `stat` are too long for a start. Of all threads. */
const cpuMsOf = async (pid: number): Promise<number> => {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(
    threads.map(async (thread) => {
      // A thread may end concurrently.
      const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
      return Number(text.split(' ')[0]) / 1e6;
    }),
  );
  return times.reduce((sum, ms) => sum + ms, 0);
};

const descendantsOf = async (pid: number): Promise<readonly number[]> => {
  const found: number[] = [];
  const threads = await readdir(`/proc/${pid}/task`);
  for (const thread of threads) {
    const children = (await readFile(`/proc/${pid}/task/${thread}/children`, 'utf8')).trim();
    for (const child of children === '' ? [] : children.split(' ').map(Number))
      found.push(child, ...(await descendantsOf(child)));
  }
  return found;
};
