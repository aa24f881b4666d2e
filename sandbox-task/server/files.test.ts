/** Files over HTTP by a real server and runner: whole, in parts, removed. */
import { appendFile, lstat, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeAfter } from './remove-after.ts';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

const inside = (path: string): string => join(sandbox.workspace, path);
const put = async (path: string, body: Buffer | string, range?: string) => {
  const headers = range === undefined ? {} : { 'content-range': range };
  const answer = await sandbox.ask('PUT', `/files/${encodeURI(path)}`, { body, headers });
  return [answer.status, JSON.parse(answer.body.toString())] as const;
};
const remove = async (path: string) => {
  const { status, body } = await sandbox.ask('DELETE', `/files/${path}`);
  return [status, body.length === 0 ? '' : JSON.parse(body.toString()).error.code] as const;
};
const refusal = (code: string, message: string) => ({ error: { code, message } });

test('a file is written whole with its folders, then replaced', async () => {
  removeAfter(inside('new'));
  expect(await put('new/ünï code.bin', Buffer.from([0, 255]))).toEqual([
    201,
    { path: 'new/ünï code.bin', size: 2 },
  ]);
  expect(await put('new/ünï code.bin', '')).toEqual([200, { path: 'new/ünï code.bin', size: 0 }]);
  const { status, body } = await sandbox.ask('GET', '/files/new/%C3%BCn%C3%AF%20code.bin');
  expect([status, body.length]).toEqual([200, 0]);
});

test.each(['000100', '499900', '500000', '999999'])(
  'a file has one time, read or listed: 101 ms and %s ns',
  async (nanoseconds) => {
    await sandbox.callTool('execute_command', {
      command: `mkdir -p timed && touch -d '2026-01-02T03:04:05.101${nanoseconds}Z' timed/file`,
    });
    const time = '2026-01-02T03:04:05.101Z';
    const { headers } = await sandbox.ask('GET', '/files/timed/file');
    expect(headers['x-sallyport-modified-at']).toBe(time);
    const { body } = await sandbox.ask('GET', '/files?path=timed');
    expect(JSON.parse(body.toString()).files).toMatchObject([{ name: 'file', modifiedAt: time }]);
  },
);

test('a body over 4 MB is refused, and the answer reaches a caller that still sends', async () => {
  const [status, body] = await put('large', Buffer.alloc(32 * 1_048_576));
  expect([status, body]).toEqual([413, refusal('payload_too_large', 'the body has more than 4194304 bytes')]);
});

test('parts are written in order and replace the file with the last one, which keeps the old mode', async () => {
  await sandbox.callTool('execute_command', { command: 'echo old > parts; chmod 750 parts' });
  expect(await put('parts', 'abc', 'bytes 0-2/8')).toEqual([202, { received: 3 }]);
  expect(await readFile(inside('parts'), 'utf8')).toBe('old\n');
  expect(await put('parts', 'xyz', 'bytes 0-2/8')).toEqual([202, { received: 3 }]);
  expect(await put('parts', 'gh', 'bytes 6-7/8')).toEqual([
    409,
    refusal('conflict', 'the next part must start at byte 3'),
  ]);
  const { body } = await sandbox.ask('GET', '/files?path=.');
  expect(body.toString()).not.toContain('partial');
  expect(await put('parts', 'def', 'bytes 3-5/8')).toEqual([202, { received: 6 }]);
  expect(await put('parts', 'gh', 'bytes 6-7/8')).toEqual([200, { path: 'parts', size: 8 }]);
  expect(await readFile(inside('parts'), 'utf8')).toBe('xyzdefgh');
  expect((await lstat(inside('parts'))).mode & 0o777).toBe(0o750);
  expect(await put('parts', 'b', 'bytes 1-1/2')).toEqual([
    409,
    refusal('conflict', 'the next part must start at byte 0'),
  ]);
  expect((await readdir(sandbox.workspace)).filter((name) => name.startsWith('.'))).toEqual([]);
});

/** More than the buffers on its way hold: its end is read when the test reads it. */
const long = (letter: string): Buffer => Buffer.alloc(16 * 1_048_576, letter);

test.each<[string, (path: string) => Promise<void>]>([
  [
    'replaced by one of the same length',
    async (path) => {
      await writeFile(`${path}.new`, long('b'));
      await rename(`${path}.new`, path);
    },
  ],
  ['written again in its place', (path) => writeFile(path, long('b'))],
  [
    'written again in its place, and longer',
    (path) => writeFile(path, Buffer.concat([long('b'), long('b')])),
  ],
  ['cut', (path) => writeFile(path, 'b')],
])('a file that is %s while it is read breaks the answer off', async (_, change) => {
  await writeFile(inside('torn'), long('a'));
  sandbox.own();
  const answer = await sandbox.open('GET', '/files/torn');
  await change(inside('torn'));
  sandbox.own();
  await expect(answer.toArray().then(() => 'the whole')).rejects.toThrow('aborted');
});

test('a file that grows while it is read is sent as long as it was', async () => {
  await writeFile(inside('grown.log'), long('a'));
  sandbox.own();
  const answer = await sandbox.open('GET', '/files/grown.log');
  await appendFile(inside('grown.log'), 'b');
  expect(Buffer.concat((await answer.toArray()) as Buffer[]).equals(long('a'))).toBe(true);
});

test('a part that is sent again, since its answer was lost, is answered as before; other bytes in its place are refused', async () => {
  removeAfter(inside('again'));
  expect(await put('again', 'abc', 'bytes 0-2/8')).toEqual([202, { received: 3 }]);
  for (let time = 0; time < 2; time += 1)
    expect(await put('again', 'def', 'bytes 3-5/8')).toEqual([202, { received: 6 }]);
  expect(await put('again', 'dex', 'bytes 3-5/8')).toEqual([
    409,
    refusal('conflict', 'the next part must start at byte 6'),
  ]);
  for (let time = 0; time < 2; time += 1)
    expect(await put('again', 'gh', 'bytes 6-7/8')).toEqual([201, { path: 'again', size: 8 }]);
  expect(await put('again', 'gx', 'bytes 6-7/8')).toEqual([
    409,
    refusal('conflict', 'the next part must start at byte 0'),
  ]);
  expect(await readFile(inside('again'), 'utf8')).toBe('abcdefgh');
});

test('the last part of an upload whose other parts are lost is refused, also where an older file has the same end', async () => {
  await sandbox.callTool('execute_command', { command: 'printf OLD---gh > older' });
  expect(await put('older', 'gh', 'bytes 6-7/8')).toEqual([
    409,
    refusal('conflict', 'the next part must start at byte 0'),
  ]);
});

test('two concurrent parts run one after another: a repeat is refused', async () => {
  removeAfter(inside('twice'));
  const outcomes = await Promise.all([put('twice', 'ab', 'bytes 0-1/4'), put('twice', 'cd', 'bytes 2-3/4')]);
  expect(outcomes.map(([status]) => status).toSorted()).toEqual(
    outcomes[1][0] === 409 ? [202, 409] : [201, 202],
  );
});

test.each([
  ['bytes 0-2/*', 'must be "bytes <first>-<last>/<total>"'],
  ['bytes=0-2/3', 'must be "bytes <first>-<last>/<total>"'],
  ['bytes 0-3/4', 'names 4 bytes, the body has 3'],
  ['bytes 2-1/4', 'names no part of the file'],
  ['bytes 0-2/2', 'names no part of the file'],
  ['bytes 0-2/2147483649', 'names 2147483649 bytes; a file has at most 2147483648'],
])('the range %s is refused', async (range, message) => {
  expect(await put('ranged', 'abc', range)).toEqual([
    400,
    refusal('invalid_request', `Content-Range ${message}`),
  ]);
});

test('W8: no file outside is written or deleted', async () => {
  removeAfter(inside('up'));
  await writeFile(join(sandbox.workspace, '..', 'victim'), 'x');
  await symlink('..', inside('up'));
  const [status, { error }] = await put('up/victim', 'y');
  expect([status, error.code]).toEqual([400, 'path_outside_workspace']);
  expect((await put('up/part', 'y', 'bytes 0-0/2'))[0]).toBe(400);
  expect(await remove('up/victim')).toEqual([400, 'path_outside_workspace']);
  expect(await remove('%2Fetc%2Fpasswd')).toEqual([400, 'path_outside_workspace']);
  expect(await readFile(join(sandbox.workspace, '..', 'victim'), 'utf8')).toBe('x');
});

test('a file, a link and a folder with its content are deleted, but not the workspace', async () => {
  removeAfter(inside('target'), inside('link'), inside('file'));
  await sandbox.callTool('execute_command', { command: 'chmod -R u+w folder; rm -rf folder' });
  await mkdir(inside('target'));
  await writeFile(inside('target/kept'), '');
  await symlink('target', inside('link'));
  await sandbox.callTool('execute_command', {
    command:
      'mkdir -p folder/locked; touch folder/locked/x; ln -s ../target folder/link; chmod 500 folder/locked',
  });
  await put('file', 'x');
  expect(await remove('file')).toEqual([204, '']);
  expect(await remove('link')).toEqual([204, '']);
  expect(await remove('folder')).toEqual([204, '']);
  expect(await readdir(inside('target'))).toEqual(['kept']);
  expect(await remove('file')).toEqual([404, 'file_not_found']);
  expect(await remove('file/below')).toEqual([404, 'file_not_found']);
  expect(await remove('')).toEqual([400, 'invalid_request']);
  expect(await remove(encodeURIComponent(sandbox.workspace))).toEqual([400, 'invalid_request']);
  expect(await remove('target%2F..')).toEqual([400, 'invalid_request']);
});

test('an answer names a file by its path in the workspace, whatever steps the request spelt it with', async () => {
  const send = async (
    method: string,
    url: string,
    options: { body?: string | Buffer; range?: string } = {},
  ) => {
    const headers = options.range === undefined ? {} : { 'content-range': options.range };
    const { status, body } = await sandbox.ask(method, url, {
      headers,
      ...(options.body === undefined ? {} : { body: options.body }),
    });
    const answer = JSON.parse(body.toString()) as { path?: string; files?: { path: string }[] };
    return [status, answer.path ?? answer.files?.map(({ path }) => path)] as const;
  };
  removeAfter(inside('named'), inside('two'), inside('three'), inside('unpacked'), inside('..data'));
  const odd = '.%2F/named//one';
  expect(await send('PUT', `/files/${odd}`, { body: 'x' })).toEqual([201, 'named/one']);
  expect(await send('PUT', `/files/${odd}`, { body: 'y', range: 'bytes 0-0/1' })).toEqual([200, 'named/one']);
  expect(await send('GET', `/stat?path=${odd}`)).toEqual([200, 'named/one']);
  expect(await send('POST', '/files/named//two?op=mkdir')).toEqual([201, 'named/two']);
  expect(await send('POST', '/files/named//one?op=copy&to=named//two//one')).toEqual([200, 'named/two/one']);
  expect(await send('POST', '/files/named/one?op=move&to=.%2Fthree')).toEqual([200, 'three']);
  expect(await send('GET', '/files?path=named//')).toEqual([200, ['named/two']]);
  const { body: archive } = await sandbox.ask('GET', '/files/named?archive=tar.gz');
  expect(await send('PUT', '/files/unpacked//?archive=tar.gz', { body: archive })).toEqual([201, 'unpacked']);
  expect(await send('PUT', '/files/?archive=tar.gz', { body: archive })).toEqual([200, '.']);
  expect(await send('PUT', '/files/..data/x', { body: 'x' })).toEqual([201, '..data/x']);
  expect(await send('GET', '/files?path=..data')).toEqual([200, ['..data/x']]);
});

test('a file in place of a folder, and a folder in place of a file, are refused in plain words', async () => {
  removeAfter(inside('kinds'));
  await mkdir(inside('kinds'));
  await writeFile(inside('kinds/file'), '');
  const told = async (method: string, url: string) => {
    const { status, body } = await sandbox.ask(method, url, method === 'PUT' ? { body: 'x' } : {});
    return [status, JSON.parse(body.toString()).error] as const;
  };
  const wrong = (message: string) => [400, { code: 'invalid_request', message }];
  expect(await told('PUT', '/files/kinds')).toEqual(wrong('kinds is a folder'));
  expect(await told('GET', '/files?path=kinds/file')).toEqual(wrong('kinds/file is not a folder'));
  expect(await told('GET', '/files?path=kinds/file&recursive=1')).toEqual(
    wrong('kinds/file is not a folder'),
  );
  expect(await told('GET', '/files?path=kinds/file/x')).toEqual([
    404,
    { code: 'file_not_found', message: 'no such file: kinds/file/x' },
  ]);
});

test('the tool reads a text as text, and a picture, by its first bytes, as an image', async () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  await put('drawn.txt', png);
  await put('named.png', 'no picture');
  expect((await sandbox.callTool('read_file', { path: 'drawn.txt' })).content).toEqual([
    { type: 'image', data: png.toString('base64'), mimeType: 'image/png' },
  ]);
  expect((await sandbox.callTool('read_file', { path: 'named.png' })).content).toEqual([
    { type: 'text', text: 'no picture' },
  ]);
});
