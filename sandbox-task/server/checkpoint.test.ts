/** Checkpoints of a real server and runner: what is in them, what is not, and what they cost. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFile,
  chmod,
  link,
  lstat,
  mkdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ArchiveHeader, readArchive } from '#shared/contracts/archive.ts';
import { logNumberTrailer } from '#shared/contracts/sandbox-call.ts';
import { settleMs } from '../runner/file-index.ts';
import { type Archive, collectArchive, startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
const inside = (path: string): string => join(sandbox.workspace, path);
beforeEach(async () => {
  sandbox = await startTestSandbox();
});
afterEach(() => sandbox.stop());

const checkpoint = async (id: string, base = ''): Promise<Archive> => {
  const answer = await sandbox.open('GET', `/checkpoint?id=${id}&base=${base}`);
  expect(answer.statusCode).toBe(200);
  return collectArchive(answer);
};
test('behind it is the number of the newest line of the log', async () => {
  const numberOf = async (): Promise<string | undefined> => {
    const answer = await sandbox.open('GET', `/checkpoint?id=${randomUUID()}&base=`);
    await answer.toArray();
    return answer.trailers[logNumberTrailer];
  };
  expect(await numberOf()).toBe('0');
  await sandbox.callTool('execute_command', { command: 'echo one >&2; echo two >&2' });
  expect(await numberOf()).toBe('2');
});

/** Entries in one line each: what came of it, not what it holds. */
const summary = ({ entries }: Archive): string[] =>
  entries.map(({ type, path, same, content, isWhole }) =>
    [type, path, same ? 'same' : content === undefined ? '' : content.length, isWhole === false ? 'cut' : '']
      .filter((part) => part !== '')
      .join(' '),
  );

test('it contains everything: folders before their content, modes, links as links, names unchanged', async () => {
  await mkdir(inside('b/c'), { recursive: true });
  await mkdir(inside('empty'), { mode: 0o750 });
  await writeFile(inside('b/c/empty file'), '');
  await writeFile(inside('b/run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  await writeFile(inside('ünï\ncode 🙂'), 'text');
  await symlink('/etc/passwd', inside('absolute'));
  await symlink('nowhere', inside('dangling'));
  await symlink('b', inside('folder link'));
  await chmod(inside('b/c'), 0o500);
  await utimes(inside('b/run.sh'), 1_700_000_000.5, 1_700_000_000.5);
  sandbox.own();
  const archive = await checkpoint(randomUUID());
  expect([archive.isFull, archive.isEnded]).toEqual([true, true]);
  const run = { type: 'file', path: 'b/run.sh', mode: 0o755, mtimeMs: 1_700_000_000_500, size: 10 };
  expect(
    archive.entries.map(({ mtimeMs, ...entry }) => (entry.path === run.path ? { ...entry, mtimeMs } : entry)),
  ).toEqual([
    { type: 'symlink', path: 'absolute', target: '/etc/passwd' },
    { type: 'directory', path: 'b', mode: 0o755 },
    { type: 'directory', path: 'b/c', mode: 0o500 },
    { type: 'file', path: 'b/c/empty file', mode: 0o644, size: 0, content: Buffer.alloc(0), isWhole: true },
    { ...run, content: Buffer.from('#!/bin/sh\n'), isWhole: true },
    { type: 'symlink', path: 'dangling', target: 'nowhere' },
    { type: 'directory', path: 'empty', mode: 0o750 },
    { type: 'symlink', path: 'folder link', target: 'b' },
    { type: 'file', path: 'ünï\ncode 🙂', mode: 0o644, size: 4, content: Buffer.from('text'), isWhole: true },
  ]);
});

test('sockets, FIFOs and names that are not text are left out and named, partial uploads silently', async () => {
  const socket = createServer().listen(inside('socket'));
  await once(socket, 'listening');
  await sandbox.callTool('execute_command', {
    command: 'mkfifo fifo; touch secret; chmod 0 secret; echo 1 > open',
  });
  await writeFile(Buffer.concat([Buffer.from(inside('bad-')), Buffer.from([0xff])]), 'x');
  await sandbox.ask('PUT', '/files/part.bin', { body: 'abc', headers: { 'content-range': 'bytes 0-2/9' } });
  const archive = await checkpoint(randomUUID());
  socket.close();
  const isRoot = (await sandbox.callTool('execute_command', { command: 'id -u' })).content[0]?.text === '0\n';
  expect(summary(archive)).toEqual([
    'left-out bad-\ufffd',
    'left-out fifo',
    'file open 2',
    isRoot ? 'file secret 0' : 'left-out secret',
    'left-out socket',
  ]);
  expect(archive.entries.find(({ path }) => path === 'fifo')?.reason).toBe('neither file, folder nor link');
});

test('only changes since the base have their content', async () => {
  for (const name of ['kept', 'edited', 'same size', 'replaced', 'chmodded', 'linked', 'gone']) {
    await writeFile(inside(name), `${name} 1`);
  }
  sandbox.own();
  await delay(2 * settleMs);
  const [first, second] = [randomUUID(), randomUUID()];
  await checkpoint(first);
  await appendFile(inside('edited'), '!');
  const { mtime } = await lstat(inside('same size'));
  await writeFile(inside('same size'), 'same size 2');
  await utimes(inside('same size'), mtime, mtime);
  await writeFile(inside('new'), 'replaced 1');
  await rename(inside('new'), inside('replaced'));
  await chmod(inside('chmodded'), 0o600);
  await link(inside('linked'), inside('other name'));
  await rm(inside('gone'));
  await delay(2 * settleMs);
  const changed = await checkpoint(second, first);
  expect(changed.isFull).toBe(false);
  expect(summary(changed)).toEqual([
    'file chmodded 10',
    'file edited 9',
    'file kept same',
    'file linked 8',
    'file other name 8',
    'file replaced 10',
    'file same size 11',
  ]);
  expect(summary(await checkpoint(randomUUID(), second)).every((line) => line.endsWith(' same'))).toBe(true);
  const full = await checkpoint(randomUUID(), randomUUID());
  expect([full.isFull, full.entries.some(({ same }) => same)]).toEqual([true, false]);
});

test('a file written just before the checkpoint is sent again, since its time could hide a second write', async () => {
  // The time of a request varies: some come within the 20 ms.
  let isSentAgain = false;
  for (let attempt = 0; attempt < 20 && !isSentAgain; attempt += 1) {
    const id = randomUUID();
    await writeFile(inside('young'), String(attempt));
    await checkpoint(id);
    await delay(2 * settleMs);
    isSentAgain = !(await checkpoint(randomUUID(), id)).entries[0]?.same;
  }
  expect(isSentAgain).toBe(true);
});

test('the last three indexes are remembered, a base in use longer than unused ones', async () => {
  await writeFile(inside('file'), 'x');
  await delay(2 * settleMs);
  const ids = Array.from({ length: 5 }, () => randomUUID());
  const [base = ''] = ids;
  await checkpoint(base);
  for (const id of ids.slice(1)) await checkpoint(id, base);
  const isFull = async (id: string): Promise<boolean | undefined> =>
    (await checkpoint(randomUUID(), id)).isFull;
  expect(await isFull(base)).toBe(false);
  expect(await isFull(ids[4] ?? '')).toBe(false);
  expect(await isFull(ids[1] ?? '')).toBe(true);
});

const megabytes = (count: number): number => count * 1_048_576;

/** A checkpoint that stops reading at its first content: back-pressure holds the rest inside. */
const halfway = async (path: string) => {
  const answer = await sandbox.open('GET', path);
  const frames = readArchive(answer);
  for (let seen = ''; seen !== 'data'; ) seen = (await frames.next()).value?.header.type ?? 'data';
  return frames;
};

test('a vanished file is marked as incomplete; one that changes is sent as it is then, and again next time', async () => {
  for (const name of ['a first', 'grown', 'replaced', 'shrunk', 'vanished'])
    await writeFile(inside(name), '');
  await truncate(inside('a first'), megabytes(20));
  await truncate(inside('shrunk'), megabytes(1));
  await writeFile(inside('grown'), '12345');
  await writeFile(inside('replaced'), '12345');
  await writeFile(inside('vanished'), '12345');
  await delay(2 * settleMs);
  const id = randomUUID();
  const frames = await halfway(`/checkpoint?id=${id}&base=`);
  await appendFile(inside('grown'), '6789');
  await truncate(inside('shrunk'), 1000);
  await rm(inside('vanished'));
  // As an editor saves, and pip replaces.
  await writeFile(inside('new'), 'another file', { mode: 0o755 });
  await utimes(inside('new'), 1_700_000_000, 1_700_000_000);
  await rename(inside('new'), inside('replaced'));
  const seen: ArchiveHeader[] = [];
  for await (const { header } of frames) seen.push(header);
  expect(
    seen.filter((header) => header.type === 'file-end' || ('path' in header && header.path === 'replaced')),
  ).toEqual([
    { type: 'file-end', size: megabytes(20), isWhole: true },
    { type: 'file-end', size: 9, isWhole: true },
    { type: 'file', path: 'replaced', mode: 0o755, mtimeMs: 1_700_000_000_000, size: 12 },
    { type: 'file-end', size: 12, isWhole: true },
    { type: 'file-end', size: 1000, isWhole: true },
    { type: 'file-end', size: 0, isWhole: false },
  ]);
  await delay(2 * settleMs);
  expect(summary(await checkpoint(randomUUID(), id))).toEqual([
    'file a first same',
    'file grown 9',
    'file replaced 12',
    'file shrunk 1000',
  ]);
});

test('checkpoints run one after another, and a caller that disconnects blocks no other', async () => {
  await writeFile(inside('large'), '');
  await truncate(inside('large'), megabytes(50));
  const first = await sandbox.open('GET', `/checkpoint?id=${randomUUID()}&base=`);
  const second = sandbox.open('GET', `/checkpoint?id=${randomUUID()}&base=`);
  expect(await Promise.race([second.then(() => 'begins'), delay(500, 'waits')])).toBe('waits');
  first.destroy();
  expect(summary(await collectArchive(await second))).toEqual([`file large ${megabytes(50)}`]);
});

test('a workspace over the limit is refused before any content, with the limit and the size', async () => {
  await writeFile(inside('huge'), '');
  await truncate(inside('huge'), 2_147_483_649);
  const answer = await sandbox.ask('GET', `/checkpoint?id=${randomUUID()}&base=`);
  expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([
    429,
    {
      error: {
        code: 'resource_limit_exceeded',
        message: 'the workspace has 2147483649 bytes; at most 2147483648 can be saved',
      },
    },
  ]);
});

test('50,000 entries are saved, and one more is refused', async () => {
  const made = await sandbox.callTool('execute_code', {
    language: 'python',
    timeout: 120,
    code: "import os\nfor d in range(50):\n  os.mkdir(f'd{d}')\n  for f in range(999): open(f'd{d}/{f}','w').close()",
  });
  expect(made.structuredContent?.['exit_code']).toBe(0);
  await delay(2 * settleMs);
  const first = randomUUID();
  expect((await checkpoint(first)).entries).toHaveLength(50_000);
  const again = await checkpoint(randomUUID(), first);
  expect(again.entries.filter(({ same }) => same)).toHaveLength(49_950);
  await writeFile(inside('one more'), '');
  const answer = await sandbox.ask('GET', `/checkpoint?id=${randomUUID()}&base=${first}`);
  expect(JSON.parse(answer.body.toString())).toEqual({
    error: {
      code: 'resource_limit_exceeded',
      message: 'the workspace has 50001 entries; at most 50000 can be saved',
    },
  });
});

test('a large file uses little memory, also with a slow reader', async () => {
  await writeFile(inside('large'), '');
  await truncate(inside('large'), megabytes(200));
  const pids = await sandbox.pids();
  const resident = (): Promise<number[]> =>
    Promise.all(
      pids.map(async (pid) => {
        const status = await readFile(`/proc/${pid}/status`, 'latin1');
        return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
      }),
    );
  const before = await resident();
  const growth: number[] = [];
  let [received, next] = [0, megabytes(5)];
  for await (const chunk of await sandbox.open('GET', `/checkpoint?id=${randomUUID()}&base=`)) {
    received += (chunk as Buffer).length;
    if (received < next) continue;
    next += megabytes(5);
    if (next === megabytes(100)) await delay(500);
    const now = await resident();
    growth.push(...now.map((megabyte, at) => megabyte - (before[at] ?? 0)));
  }
  expect(received).toBeGreaterThan(megabytes(200));
  expect(growth).toHaveLength(80);
  expect(Math.max(...growth)).toBeLessThan(60);
});

test.each(['', 'id=1&base=', `id=${randomUUID()}&base=1`])(
  'ids that are not UUIDs are refused: %s',
  async (query) => {
    const { status } = await sandbox.ask('GET', `/checkpoint?${query}`);
    expect(status).toBe(400);
  },
);
