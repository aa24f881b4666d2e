/** Files and folders over REST: made, moved, copied, described, packed, unpacked, watched; read by a reader without a sandbox. */

import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Sallyport } from '#sdk/sallyport.ts';
import { SandboxFiles } from '#sdk/sandbox-files.ts';
import { makeSession, restSandbox, showSession } from './agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';

let cloud: EmbeddedCloud;
let id: string;
let readerToken: string;
let scratch: string;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
  const body = JSON.stringify({ name: 'a reader', scope: 'admin:ro' });
  ({ token: readerToken } = await cloud.ask<{ token: string }>('/api/tokens', { method: 'POST', body }));
  scratch = await mkdtemp(join(tmpdir(), 'sallyport-files-'));
});
afterAll(async () => {
  await cloud.stop();
  await rm(scratch, { recursive: true });
});

const at = (path: string): string => `/api/sessions/${id}${path}`;
const asked = (method: string, path: string, init: RequestInit = {}) =>
  cloud.request(at(path), {
    method,
    ...init,
    headers: { 'content-type': 'application/octet-stream', ...init.headers },
  });
const read = (path: string, method = 'GET'): Promise<Response> =>
  fetch(`${cloud.url}${at(path)}`, { method, headers: { authorization: `Bearer ${readerToken}` } });
const codeOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string; suggestions: string[] } };
  return [response.status, error.code, error.suggestions.length > 0];
};
const strange = `${encodeURIComponent('größe\n1')}`;

test('a folder is made, a file moved and copied, and each change is answered with its entry', async () => {
  // Of each try its own, in which nothing is there yet. The tests below read it.
  ({ id } = await makeSession(cloud, { flavor: 'micro' }));
  const made = await asked('POST', '/files/src/deep?op=mkdir');
  expect([made.status, await made.json()]).toMatchObject([201, { path: 'src/deep', type: 'directory' }]);
  expect((await asked('POST', '/files/src/deep?op=mkdir')).status).toBe(200);
  await asked('PUT', `/files/src/${strange}`, { body: 'hello' });
  const moved = await asked('POST', `/files/src/${strange}?op=move&to=${encodeURIComponent('src/deep/ü')}`);
  expect([moved.status, await moved.json()]).toMatchObject([
    200,
    { path: 'src/deep/ü', type: 'file', size: 5 },
  ]);
  expect((await asked('POST', '/files/src?op=copy&to=copied')).status).toBe(200);
  expect(await (await asked('GET', `/files/copied/deep/${encodeURIComponent('ü')}`)).text()).toBe('hello');
});

test('refusals say what to do', async () => {
  expect(await codeOf(await asked('POST', '/files/src?op=copy&to=src/inner'))).toEqual([
    400,
    'invalid_request',
    true,
  ]);
  expect(await codeOf(await asked('POST', '/files/src?op=move&to=copied'))).toEqual([409, 'conflict', true]);
  expect(await codeOf(await asked('POST', '/files/src?op=move&to=..%2Fout'))).toEqual([
    400,
    'path_outside_workspace',
    true,
  ]);
  expect(await codeOf(await asked('POST', '/files/nothing?op=move&to=x'))).toEqual([
    404,
    'file_not_found',
    true,
  ]);
  expect((await asked('POST', '/files/src?op=move')).status).toBe(400);
  expect((await asked('POST', '/files/src?op=chmod')).status).toBe(400);
  expect(await codeOf(await asked('PUT', '/files/newdir/', { body: '' }))).toEqual([
    400,
    'invalid_request',
    true,
  ]);
  expect((await read('/files/x?op=mkdir', 'POST')).status).toBe(403);
});

test.each(['src', './src', '/workspace/src'])(
  'entries of %s have their path from the workspace',
  async (folder) => {
    const pathsFrom = async (ask: (path: string) => Promise<Response>) => {
      const { files } = (await (await ask(`/files?path=${encodeURIComponent(folder)}`)).json()) as {
        files: { readonly path: string }[];
      };
      return files.map(({ path }) => path);
    };
    expect(await pathsFrom((path) => asked('GET', path))).toEqual(['src/deep']);
    expect(await pathsFrom((path) => read(path))).toEqual(['src/deep']);
  },
);

test('a path with `..` is refused in the words of the API', async () => {
  const { hostname, port } = new URL(cloud.url);
  const answer = await new Promise<string>((settle, reject) => {
    const socket = createConnection({ host: hostname, port: Number(port) }, () =>
      socket.write(
        [
          `GET ${at('/files/../../../../etc')} HTTP/1.1`,
          ...['Host: x', 'Connection: close', `Authorization: Bearer ${cloud.token}`, '', ''],
        ].join('\r\n'),
      ),
    );
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    socket.once('end', () => settle(text)).once('error', reject);
  });
  expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"path_outside_workspace"/);
});

test('HEAD describes a file and a folder', async () => {
  const file = await asked('HEAD', `/files/src/deep/${encodeURIComponent('ü')}`);
  const { headers } = file;
  expect([file.status, headers.get('content-length'), headers.get('x-sallyport-type')]).toEqual([
    200,
    '5',
    'file',
  ]);
  expect(Date.parse(headers.get('last-modified') ?? '')).toBeGreaterThan(0);
  const folder = await asked('HEAD', '/files/src');
  expect([folder.status, folder.headers.get('x-sallyport-type')]).toEqual([200, 'directory']);
  expect((await asked('HEAD', '/files/nothing')).status).toBe(404);
});

test('a folder comes in by parts as an archive, and goes out', async () => {
  // The answer says whether the folder is new, and a try that failed may have filled it.
  await asked('DELETE', '/files/unpacked');
  const folder = join(scratch, 'in');
  await mkdir(join(folder, 'sub'), { recursive: true });
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7919) % 251));
  await writeFile(join(folder, 'sub/bytes'), bytes);
  const archive = execFileSync('tar', ['-czf', '-', '-C', folder, '.']);
  const middle = Math.floor(archive.length / 2);
  const part = (from: number, to: number) =>
    asked('PUT', '/files/unpacked?archive=tar.gz', {
      body: archive.subarray(from, to),
      headers: { 'content-range': `bytes ${from}-${to - 1}/${archive.length}` },
    });
  const first = await part(0, middle);
  expect([first.status, await first.json()]).toEqual([202, { received: middle }]);
  const last = await part(middle, archive.length);
  expect([last.status, await last.json()]).toEqual([
    201,
    { path: 'unpacked', files: 1, bytes: bytes.length },
  ]);
  const out = await asked('GET', '/files/unpacked?archive=tar.gz');
  expect(out.headers.get('content-disposition')).toContain('unpacked.tar.gz');
  await writeFile(join(scratch, 'out.tgz'), Buffer.from(await out.arrayBuffer()));
  execFileSync('tar', ['-xzf', join(scratch, 'out.tgz'), '-C', scratch]);
  expect((await readFile(join(scratch, 'sub/bytes'))).equals(bytes)).toBe(true);
  expect((await asked('PUT', '/files?archive=tar.gz', { body: archive })).status).toBe(200);
  expect((await asked('PUT', '/files/?archive=tar.gz', { body: archive })).status).toBe(200);
});

test('two writes of one file in parts at once: it is one of them, whole', async () => {
  const files = new SandboxFiles(new Sallyport(cloud), id);
  const contents = ['one', 'two'].map((text) => text.repeat(100));
  await Promise.all(contents.map((content) => files.write('at-once', content, { partBytes: 100 })));
  expect(contents).toContain(await files.read('at-once'));
});

test('an upload that this sandbox does not have is refused with the way to begin again', async () => {
  const upload = (start: number, headers = {}) =>
    asked('PUT', '/files/unknown', {
      body: 'def',
      headers: { 'content-range': `bytes ${start}-${start + 2}/6`, ...headers },
    });
  const refused = await upload(3, { 'upload-id': crypto.randomUUID() });
  const { error } = (await refused.json()) as { error: { message: string; suggestions: string[] } };
  expect([refused.status, error]).toMatchObject([
    409,
    {
      message: 'the next part must start at byte 0',
      suggestions: [expect.stringContaining('begin the upload again')],
    },
  ]);
  expect(await codeOf(await upload(0, { 'upload-id': 'mine' }))).toEqual([400, 'invalid_request', true]);
});

test('a watch reports changes as events', async () => {
  const path = `src/new-${crypto.randomUUID()}`;
  const stream = await asked('GET', '/watch?path=src');
  expect(stream.headers.get('content-type')).toBe('text/event-stream');
  await asked('PUT', `/files/${path}`, { body: 'x' });
  let text = '';
  for await (const piece of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.includes('data: ')) break;
  }
  expect(text).toContain(`event: changed\ndata: {"path":"${path}","kind":"created"}\n\n`);
});

test('the client library sees the same', async () => {
  const files = new SandboxFiles(new Sallyport(cloud), id);
  const own = crypto.randomUUID();
  const [library, twice, thrice] = [`${own}/library`, `${own}/twice`, `${own}/thrice`];
  await files.write(`${library}/a/ü.txt`, 'hello');
  const [, below] = await files.list(library, { recursive: true });
  expect(below).toMatchObject({ path: `${library}/a/ü.txt`, size: 5 });
  expect(await files.stat(`${library}/a/ü.txt`)).toMatchObject({
    type: 'file',
    size: 5,
    modifiedAt: below?.modifiedAt,
  });
  await files.copy(library, twice);
  const move = (options = {}) => files.move(`${library}/a/ü.txt`, `${twice}/a/ü.txt`, options);
  await expect(move()).rejects.toMatchObject({ code: 'conflict' });
  await move({ overwrite: true });
  await files.upload(thrice, await files.download(twice));
  expect(await files.read(`${thrice}/a/ü.txt`)).toBe('hello');
  const { url } = await files.link(`${thrice}/a/ü.txt`);
  expect(await (await fetch(url)).text()).toBe('hello');
});

type Listed = { readonly files: readonly { readonly path: string; readonly type: string }[] };

test('AC5: a reader gets the same from the running sandbox and from what was saved', async () => {
  const everything = async () => {
    const list = (await (await read('/files?recursive=1')).json()) as Listed;
    const archive = Buffer.from(await (await read('/files/unpacked/?archive=tar.gz')).arrayBuffer());
    await writeFile(join(scratch, 'saved.tgz'), archive);
    const names = execFileSync('tar', ['-tzf', join(scratch, 'saved.tgz')])
      .toString()
      .split('\n');
    const { status, headers } = await read('/files/unpacked/sub/bytes', 'HEAD');
    return {
      list: list.files.map(({ path, type }) => `${type} ${path}`).toSorted(),
      names: names.toSorted(),
      head: [status, headers.get('content-length'), headers.get('x-sallyport-type')],
    };
  };
  // A try that failed may have stopped its sandbox.
  await asked('GET', '/files');
  const running = await everything();
  await restSandbox(cloud, id);
  expect(await everything()).toEqual(running);
  expect(running.list).toContain('file unpacked/sub/bytes');
  expect(running.names).toEqual(['', 'sub/', 'sub/bytes']);
  expect((await read('/watch')).status).toBe(503);
  expect((await showSession(cloud, id)).sandbox?.state).toBe('stopped');
});
