/** The shared volume by a real server and runner: what a checkpoint of it says, and when it says it again. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { type ArchiveHeader, encodeArchiveFrame } from '#shared/contracts/archive.ts';
import { collectArchive, sha256Of, startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

const start = async (hasSharedVolume = true): Promise<TestSandbox> => {
  const sandbox = await startTestSandbox({}, { hasSharedVolume });
  onTestFinished(sandbox.stop);
  return sandbox;
};

type Piece = readonly [ArchiveHeader, string?];
const file = (path: string, content: string): Piece[] => {
  const size = Buffer.byteLength(content);
  return [
    [{ type: 'file', path, mode: 0o644, mtimeMs: 1_700_000_000_000, size, sha256: sha256Of(content) }],
    [{ type: 'data' }, content],
    [{ type: 'file-end', size, isWhole: true }],
  ];
};

let claims = 0;
const restore = async (sandbox: TestSandbox, pieces: readonly Piece[]) => {
  claims += 1;
  const whole: Piece[] = [[{ type: 'begin', isFull: true }], ...pieces, [{ type: 'end' }]];
  const frames = whole.map(([header, payload = '']) => encodeArchiveFrame(header, Buffer.from(payload)));
  const { status, body } = await sandbox.ask('POST', `/shared/restore?id=${randomUUID()}&claim=${claims}`, {
    body: Readable.from(frames),
  });
  return { status, body: JSON.parse(body.toString()) as unknown };
};

/** The entries of a checkpoint, in short; it counts as stored only when it is settled. */
const look = async (sandbox: TestSandbox, { settles = false } = {}) => {
  const id = randomUUID();
  const archive = await collectArchive(await sandbox.open('GET', `/shared/checkpoint?id=${id}`));
  expect(archive.isEnded).toBe(true);
  if (settles) expect((await sandbox.ask('POST', `/shared/settle?id=${id}`)).status).toBe(204);
  const said = archive.entries.map(({ type, path, content }) =>
    content === undefined ? `${type} ${path}` : `${type} ${path}: ${content}`,
  );
  return { isFull: archive.isFull, said };
};

const inside = (sandbox: TestSandbox, path: string): string => join(sandbox.shared, path);

test('restored files are no change; changes and deletions since are reported until they are settled', async () => {
  const sandbox = await start();
  const restored = await restore(sandbox, [
    [{ type: 'directory', path: 'd', mode: 0o755 }],
    ...file('d/kept', 'kept'),
    ...file('d/changed', 'old'),
    ...file('gone', 'gone'),
    [{ type: 'symlink', path: 'link', target: 'd/kept' }],
  ]);
  expect(restored).toEqual({ status: 200, body: { files: 3, missing: [] } });
  expect(await look(sandbox)).toEqual({ isFull: false, said: [] });

  await writeFile(inside(sandbox, 'd/changed'), 'new');
  await writeFile(inside(sandbox, 'added'), 'added');
  await rm(inside(sandbox, 'gone'));
  await rm(inside(sandbox, 'link'));
  await symlink('added', inside(sandbox, 'link'));
  await chmod(inside(sandbox, 'd'), 0o700);
  const news = {
    isFull: false,
    said: ['removed gone', 'file added: added', 'directory d', 'file d/changed: new', 'symlink link'],
  };
  expect(await look(sandbox)).toEqual(news);
  expect(await look(sandbox, { settles: true })).toEqual(news);
  expect(await look(sandbox)).toEqual({ isFull: false, said: [] });
});

test('only the last completely sent checkpoint can be settled', async () => {
  const sandbox = await start();
  await restore(sandbox, []);
  await writeFile(inside(sandbox, 'a'), 'a');
  const first = randomUUID();
  await sandbox.ask('GET', `/shared/checkpoint?id=${first}`);
  expect((await look(sandbox)).said).toEqual(['file a: a']);
  expect((await sandbox.ask('POST', `/shared/settle?id=${first}`)).status).toBe(409);
  expect((await sandbox.ask('POST', '/shared/settle?id=1')).status).toBe(400);
  expect((await look(sandbox)).said).toEqual(['file a: a']);
});

test('an unknown volume is sent whole, without deletions', async () => {
  const sandbox = await start();
  await writeFile(inside(sandbox, 'a'), 'a');
  expect(await look(sandbox)).toEqual({ isFull: true, said: ['file a: a'] });
});

test('a restore deletes no existing file', async () => {
  const sandbox = await start();
  await writeFile(inside(sandbox, 'own'), 'own');
  sandbox.own();
  await restore(sandbox, file('other', 'other'));
  expect((await readdir(sandbox.shared)).toSorted()).toEqual(['other', 'own']);
  expect(await look(sandbox)).toEqual({ isFull: false, said: ['file own: own'] });
});

test('files in an unreadable folder are not reported as deleted, then or later', async () => {
  const sandbox = await start();
  await restore(sandbox, [
    [{ type: 'directory', path: 'd', mode: 0o755 }],
    ...file('d/a', 'a'),
    ...file('d/b', 'b'),
  ]);
  await chmod(inside(sandbox, 'd'), 0o000);
  const closed = await look(sandbox, { settles: true });
  expect(closed.said).toEqual(sandbox.isRoot ? ['directory d'] : ['directory d', 'left-out d']);
  await chmod(inside(sandbox, 'd'), 0o755);
  await rm(inside(sandbox, 'd/b'));
  const opened = await look(sandbox);
  expect(opened.said).toEqual(
    sandbox.isRoot ? ['removed d/b', 'directory d'] : ['removed d/b', 'directory d', 'file d/a: a'],
  );
});

test('a missing volume is refused, not treated as empty', async () => {
  const sandbox = await start();
  await restore(sandbox, file('a', 'a'));
  await rename(sandbox.shared, `${sandbox.shared}-away`);
  const { status, body } = await sandbox.ask('GET', `/shared/checkpoint?id=${randomUUID()}`);
  expect([status, JSON.parse(body.toString())]).toMatchObject([
    409,
    { error: { message: 'the shared volume is not there' } },
  ]);
});

test('a file over 8 MB has its hash before its content, a smaller one does not', async () => {
  const sandbox = await start();
  const large = Buffer.alloc(40 * 1_048_576, 'large');
  await writeFile(inside(sandbox, 'large'), large);
  await writeFile(inside(sandbox, 'small'), Buffer.alloc(8 * 1_048_576));
  sandbox.own();
  const stream = await sandbox.open('GET', `/shared/checkpoint?id=${randomUUID()}`);
  const { entries } = await collectArchive(stream);
  expect(entries.map(({ path, isWhole, content, ...entry }) => [path, content?.length, entry])).toEqual([
    ['large', 41_943_040, expect.objectContaining({ sha256: sha256Of(large) })],
    ['small', 8_388_608, expect.not.objectContaining({ sha256: expect.anything() })],
  ]);
});

test('a file that a large one replaces during a checkpoint is sent whole, with its hash', async () => {
  const sandbox = await start();
  const large = Buffer.alloc(20 * 1_048_576, 'large');
  await writeFile(inside(sandbox, 'a first'), large);
  await writeFile(inside(sandbox, 'replaced'), 'small');
  sandbox.own();
  const answer = await sandbox.open('GET', `/shared/checkpoint?id=${randomUUID()}`);
  await once(answer, 'readable');
  await writeFile(join(sandbox.workspace, 'new'), large);
  await rename(join(sandbox.workspace, 'new'), inside(sandbox, 'replaced'));
  sandbox.own();
  const [, replaced] = (await collectArchive(answer)).entries;
  expect([replaced?.content?.length, replaced]).toMatchObject([
    large.length,
    { size: large.length, sha256: sha256Of(large) },
  ]);
});

test('more than 10,000 entries, or 2 GB, are refused', async () => {
  const sandbox = await start();
  await truncate(inside(sandbox, 'huge'), 0).catch(() => writeFile(inside(sandbox, 'huge'), ''));
  await truncate(inside(sandbox, 'huge'), 2_147_483_649);
  const refused = async () => {
    const { status, body } = await sandbox.ask('GET', `/shared/checkpoint?id=${randomUUID()}`);
    return [status, (JSON.parse(body.toString()) as { error: { message: string } }).error.message];
  };
  expect(await refused()).toEqual([
    429,
    'the shared volume has more than 2147483648 bytes: no more can be saved',
  ]);
  await rm(inside(sandbox, 'huge'));
  await mkdir(inside(sandbox, 'many'));
  await Promise.all(
    Array.from({ length: 10_000 }, (_, index) => writeFile(inside(sandbox, `many/${index}`), '')),
  );
  expect(await refused()).toEqual([
    429,
    'the shared volume has more than 10000 entries: no more can be saved',
  ]);
});

test('workspace and volume are saved independently', async () => {
  const sandbox = await start();
  await restore(sandbox, file('shared', 'shared'));
  await writeFile(join(sandbox.workspace, 'own'), 'own');
  const ofWorkspace = await collectArchive(await sandbox.open('GET', `/checkpoint?id=${randomUUID()}`));
  expect([ofWorkspace.isFull, ofWorkspace.entries.map(({ path }) => path)]).toEqual([true, ['own']]);
  expect(await look(sandbox)).toEqual({ isFull: false, said: [] });
  expect(await readFile(inside(sandbox, 'shared'), 'utf8')).toBe('shared');
});

test('a touched file is a change, since its time is saved too', async () => {
  const sandbox = await start();
  await restore(sandbox, file('a', 'a'));
  await utimes(inside(sandbox, 'a'), 1, 1);
  expect((await look(sandbox)).said).toEqual(['file a: a']);
});

test('an archive to a sandbox lists no deletions', async () => {
  const sandbox = await start();
  const outcome = await restore(sandbox, [...file('a', 'a'), [{ type: 'removed', path: 'a' }]]);
  expect(outcome).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
});

test('a sandbox without a shared volume has no such routes', async () => {
  const sandbox = await start(false);
  const id = randomUUID();
  const asked = await Promise.all([
    sandbox.ask('GET', `/shared/checkpoint?id=${id}`),
    sandbox.ask('POST', `/shared/restore?id=${id}&claim=1`),
    sandbox.ask('POST', `/shared/settle?id=${id}`),
  ]);
  expect(asked.map(({ status }) => status)).toEqual([404, 404, 404]);
});
