/** Archives of folders by a real server and runner: out, in by parts, and hostile ones, which change nothing. */
import { execFileSync } from 'node:child_process';
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeTarHeader, sumOf, tarEnd, tarPadding } from '#shared/contracts/tar.ts';
import { removeAfter } from './remove-after.ts';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
let scratch: string;
beforeAll(async () => {
  sandbox = await startTestSandbox();
  scratch = await mkdtemp(join(tmpdir(), 'sallyport-archives-'));
});
afterAll(async () => {
  await sandbox.stop();
  await rm(scratch, { recursive: true });
});

const inside = (path: string): string => join(sandbox.workspace, path);
const shell = (command: string) => sandbox.callTool('execute_command', { command });
const put = async (path: string, body: Buffer, range?: string) => {
  const headers = range === undefined ? {} : { 'content-range': range };
  const { status, body: answer } = await sandbox.ask('PUT', `/files/${path}?archive=tar.gz`, {
    body,
    headers,
  });
  const json = JSON.parse(answer.toString());
  return { status, answer: json, code: json.error?.code as string | undefined };
};
const get = (path: string) => sandbox.ask('GET', `/files/${path}?archive=tar.gz`);

test('a folder comes out as an archive that tar reads, and goes in again as it was', async () => {
  removeAfter(inside('out'), inside('in'), join(scratch, 'out'));
  const long = `${'long'.repeat(40)}/${'name'.repeat(40)}`;
  await shell(
    `mkdir -p out/'größe'/empty out/${long} && printf body > out/$'größe/new\\nline' && head -c 700000 /dev/urandom > out/big
     touch -d 2001-02-03T04:05:06Z out/big; printf x > out/${long}/x; chmod 750 out/'größe'; ln -s /etc/passwd out/link; mkfifo out/fifo`,
  );
  const { status, headers, body } = await get('out');
  expect([status, headers['content-type']]).toEqual([200, 'application/gzip']);
  await writeFile(join(scratch, 'out.tgz'), body);
  await mkdir(join(scratch, 'out'));
  execFileSync('tar', ['-xzf', join(scratch, 'out.tgz'), '-C', join(scratch, 'out')]);
  expect(await readFile(join(scratch, 'out/größe/new\nline'), 'utf8')).toBe('body');
  expect(await readlink(join(scratch, 'out/link'))).toBe('/etc/passwd');
  expect(await readFile(join(scratch, 'out', long, 'x'), 'utf8')).toBe('x');
  expect((await readdir(join(scratch, 'out'))).includes('fifo')).toBe(false);

  expect(await put('in%2Fagain', body)).toEqual({
    status: 201,
    answer: { path: 'in/again', files: 3, bytes: 700_005 },
    code: undefined,
  });
  expect(await readFile(inside('in/again/big'))).toEqual(await readFile(inside('out/big')));
  expect((await lstat(inside('in/again/big'))).mtime.toISOString()).toBe('2001-02-03T04:05:06.000Z');
  expect((await lstat(inside('in/again/größe'))).mode & 0o777).toBe(0o750);
  expect(await readlink(inside('in/again/link'))).toBe('/etc/passwd');
  expect((await put('in%2Fagain', body)).status).toBe(200);
  expect((await readdir(inside('in/again'))).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('an archive comes in parts like a file, and is unpacked with the last one', async () => {
  const folder = join(scratch, 'parts');
  removeAfter(folder, inside('parts'));
  // An empty workspace would be a new folder.
  await writeFile(inside('other'), '');
  await mkdir(folder);
  await writeFile(join(folder, 'one'), 'first');
  execFileSync('ln', [join(folder, 'one'), join(folder, 'two')]);
  const archive = execFileSync('tar', ['-czf', '-', '-C', scratch, '--format=gnu', './parts']);
  const middle = archive.length - 10;
  expect(await put('', archive.subarray(0, middle), `bytes 0-${middle - 1}/${archive.length}`)).toMatchObject(
    {
      status: 202,
      answer: { received: middle },
    },
  );
  expect((await readdir(sandbox.workspace)).includes('parts')).toBe(false);
  expect(await put('', archive.subarray(0, 1), `bytes 5-5/${archive.length}`)).toMatchObject({
    status: 409,
    code: 'conflict',
  });
  const rest = `bytes ${middle}-${archive.length - 1}/${archive.length}`;
  const unpacked = { status: 200, answer: { files: 2 } };
  expect(await put('', archive.subarray(middle), rest)).toMatchObject(unpacked);
  expect(await readFile(inside('parts/two'), 'utf8')).toBe('first');
  expect((await lstat(inside('parts/two'))).ino).toBe((await lstat(inside('parts/one'))).ino);
  // Sent again, since its answer was lost.
  await rm(inside('parts/one'));
  expect(await put('', archive.subarray(middle), rest)).toMatchObject(unpacked);
  expect(await readdir(inside('parts'))).toEqual(['two']);
});

test('an archive that comes again while it is unpacked is unpacked once', async () => {
  const body = forge(Array.from({ length: 3000 }, (_, at) => ({ path: `n${at}`, content: 'x' })));
  const range = `bytes 9-${body.length - 1}/${body.length}`;
  await put('twice', body.subarray(0, 9), `bytes 0-8/${body.length}`);
  const send = async () => (await put('twice', body.subarray(9), range)).answer;
  const written = { path: 'twice', files: 3000, bytes: 3000 };
  expect(await Promise.all([send(), send()])).toEqual([written, written]);
  const whole = async () => (await put('twice', body)).answer;
  expect(await Promise.all([whole(), whole()])).toEqual([written, written]);
});

test('a file is no folder, and a folder no file', async () => {
  await shell('echo x > plain; mkdir plainer');
  expect((await get('plain')).status).toBe(400);
  expect((await put('plain', gzipSync(tarEnd()))).status).toBe(400);
  expect((await sandbox.ask('GET', '/files/plainer')).status).toBe(400);
  expect((await sandbox.ask('GET', '/files/plainer?archive=zip')).status).toBe(400);
  expect((await get('nothing')).status).toBe(404);
});

type Forged = {
  readonly path: string;
  readonly kind?: string;
  readonly target?: string;
  readonly content?: string;
  readonly size?: number;
};

/** Entries as a liar writes them: any name, any kind, any target. */
const forge = (entries: readonly Forged[]): Buffer => {
  const blocks = entries.flatMap(({ path, kind = '0', target = '', content = '', size }) => {
    const body = Buffer.from(content);
    const traits = { path, mode: 0o644, mtimeMs: 0, size: size ?? body.length };
    const header = Buffer.from(encodeTarHeader({ ...traits, type: 'file' }));
    const own = header.subarray(header.length - 512);
    own.write(kind, 156, 'latin1');
    own.write(target, 157, 'utf8');
    own.write(`${sumOf(own).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    return [header, body, Buffer.alloc(tarPadding(body.length))];
  });
  return gzipSync(Buffer.concat([...blocks, tarEnd()]));
};

const fine = { path: 'fine', content: 'fine' };
const outside = 'path_outside_workspace';

test.each<[string, string, readonly Forged[]]>([
  ['an absolute path', outside, [fine, { path: '/tmp/escaped', content: 'x' }]],
  ['a path with ..', outside, [fine, { path: 'a/../../escaped', content: 'x' }]],
  ['a file behind its own link', outside, [{ path: 'l', kind: '2', target: '..' }, { path: 'l/escaped' }]],
  [
    'a folder behind its own link',
    outside,
    [
      { path: 'l', kind: '2', target: '/' },
      { path: 'l/d', kind: '5' },
    ],
  ],
  [
    'a link that replaces a folder',
    'invalid_request',
    [fine, { path: 'd/x' }, { path: 'd', kind: '2', target: '..' }],
  ],
  ['a file behind a link that is there', outside, [fine, { path: 'there/escaped' }]],
  ['a hard link to a file outside', outside, [fine, { path: 'h', kind: '1', target: '../../victim' }]],
  ['a hard link to an absolute path', outside, [fine, { path: 'h', kind: '1', target: '/etc/passwd' }]],
  ['a hard link to no entry', 'invalid_request', [fine, { path: 'h', kind: '1', target: 'there/victim' }]],
  [
    'a hard link to a link',
    'invalid_request',
    [
      { path: 'l', kind: '2', target: '../../victim' },
      { path: 'h', kind: '1', target: 'l' },
    ],
  ],
  ['a character device', 'invalid_request', [fine, { path: 'null', kind: '3' }]],
  ['a block device', 'invalid_request', [fine, { path: 'disk', kind: '4' }]],
  ['a FIFO', 'invalid_request', [fine, { path: 'fifo', kind: '6' }]],
  ['an unknown kind', 'invalid_request', [fine, { path: 'what', kind: 'S' }]],
  ['a name over 255 bytes', 'invalid_request', [fine, { path: `x${'y'.repeat(300)}`, content: 'z' }]],
  ['a file where a folder is', 'conflict', [fine, { path: 'folder' }]],
  ['a folder where a file is', 'conflict', [fine, { path: 'file/x' }]],
  ['three gigabytes', 'resource_limit_exceeded', [fine, { path: 'bomb', size: 3 * 1024 ** 3 }]],
])('W15: %s is refused, and nothing is unpacked', async (_, code, entries) => {
  await rm(inside('target'), { recursive: true, force: true });
  await mkdir(inside('target/folder'), { recursive: true });
  await writeFile(inside('target/file'), 'kept');
  await writeFile(join(sandbox.workspace, '..', 'victim'), 'x');
  await symlink('../..', inside('target/there'));
  sandbox.own();
  expect((await put('target', forge(entries))).code).toBe(code);
  expect((await readdir(inside('target'))).sort()).toEqual(['file', 'folder', 'there']);
  expect(await readdir(join(sandbox.workspace, '..'))).not.toContain('escaped');
});

test('W15: headers without entries end the reading', async () => {
  const headers = forge(Array.from({ length: 150_001 }, () => ({ path: 'g', kind: 'g' })));
  expect((await put('many', headers)).code).toBe('resource_limit_exceeded');
});

test('W15: too many entries are refused before one is written, also those that only paths imply', async () => {
  const many = forge(Array.from({ length: 50_001 }, (_, at) => ({ path: `n${at}` })));
  expect((await put('many', many)).code).toBe('resource_limit_exceeded');
  const deep = forge(Array.from({ length: 400 }, (_, at) => ({ path: `${at}/${'d/'.repeat(200)}x` })));
  expect((await put('many', deep)).code).toBe('resource_limit_exceeded');
  expect(await readdir(inside('many'))).toEqual([]);
});

test('W15: a time that no file can have does not break off the unpacking', async () => {
  removeAfter(inside('timed'));
  const time = { path: 'x', kind: 'x', content: '15 mtime=1e999\n' };
  const entries = [
    { path: 'a', content: '1' },
    time,
    { path: 'b', content: '2' },
    { path: 'c', content: '3' },
  ];
  expect(await put('timed', forge(entries))).toMatchObject({ status: 201, answer: { files: 3 } });
});

test('W15: a link out of the workspace is a link, and nothing goes through it', async () => {
  removeAfter(inside('linked'));
  const link = { path: 'l', kind: '2', target: '/etc' };
  expect((await put('linked', forge([link]))).status).toBe(201);
  expect(await readlink(inside('linked/l'))).toBe('/etc');
  expect((await put('linked', forge([{ path: 'l', content: 'mine' }]))).status).toBe(200);
  expect(await readFile(inside('linked/l'), 'utf8')).toBe('mine');
});

test.each([
  ['no gzip', Buffer.from('hello')],
  ['a cut archive', gzipSync(Buffer.alloc(700, 1)).subarray(0, 20)],
  ['no tar', gzipSync('x'.repeat(2000))],
  [
    'an end in a file',
    gzipSync(Buffer.from(encodeTarHeader({ path: 'a', mode: 0, mtimeMs: 0, type: 'file', size: 9 }))),
  ],
])('%s is refused', async (_, body) => {
  const { status, answer } = await put('broken', body);
  expect([status, answer.error.code]).toEqual([400, 'invalid_request']);
  expect(answer.error.message).toContain('no tar.gz');
  expect(await readdir(inside('broken'))).toEqual([]);
});

test('an empty body, and a part of nothing, are refused', async () => {
  expect((await put('broken', Buffer.alloc(0))).status).toBe(400);
});
