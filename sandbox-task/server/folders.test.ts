/** Folders over HTTP by a real server and runner: listed whole, described, made, moved, copied, watched. */
import { lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

const inside = (path: string): string => join(sandbox.workspace, path);
const shell = (command: string) => sandbox.callTool('execute_command', { command });

const asked = async (method: string, path: string) => {
  const { status, body } = await sandbox.ask(method, path);
  const answer = body.length === 0 ? {} : JSON.parse(body.toString());
  return { status, answer, code: answer.error?.code as string | undefined };
};
const change = (path: string, query: Record<string, string>) =>
  asked('POST', `/files/${encodeURIComponent(path)}?${new URLSearchParams(query)}`);

test('everything below a folder is listed with its path, a folder before its content', async () => {
  await shell(
    "mkdir -p list/b/c && printf 1 > list/b/c/deep && printf 22 > $'list/a\\nü' && ln -s /etc list/out",
  );
  const { answer } = await asked('GET', '/files?path=list&recursive=1');
  const rows = answer.files.map(({ path, name, type, size }: Record<string, unknown>) => [
    path,
    name,
    type,
    size,
  ]);
  expect(rows).toEqual([
    ['list/a\nü', 'a\nü', 'file', 2],
    ['list/b', 'b', 'directory', expect.any(Number)],
    ['list/out', 'out', 'symlink', 4],
    ['list/b/c', 'c', 'directory', expect.any(Number)],
    ['list/b/c/deep', 'deep', 'file', 1],
  ]);
  expect(answer.truncated).toBeUndefined();
  expect(await asked('GET', '/files?path=list/out&recursive=1')).toMatchObject({
    status: 400,
    code: 'path_outside_workspace',
  });
  expect((await asked('GET', '/files?path=nothing&recursive=1')).status).toBe(404);
});

test('a list with fewer entries than its folder says so', async () => {
  await shell('rm -rf many && mkdir many && cd many && seq 1 10000 | xargs touch');
  expect((await asked('GET', '/files?path=many')).answer.truncated).toBeUndefined();
  await shell('touch many/one-more');
  const { answer } = await asked('GET', '/files?path=many');
  expect([answer.files.length, answer.truncated]).toEqual([10_000, true]);
  const { content } = await sandbox.callTool('list_files', { path: 'many' });
  expect(JSON.parse(content[0]?.text ?? '')).toHaveLength(10_000);
  expect(content[1]?.text).toBe('[The folder has more than these 10000 entries.]');
  await shell('rm -r many');
});

test('an entry is described as reading would find it', async () => {
  await shell(
    'mkdir -p seen && printf abc > seen/file && ln -s file seen/link && ln -s nowhere seen/dangling',
  );
  expect((await asked('GET', '/stat?path=seen/link')).answer).toMatchObject({ type: 'file', size: 3 });
  expect((await asked('GET', '/stat?path=seen')).answer).toMatchObject({ type: 'directory' });
  expect((await asked('GET', '/stat?path=seen/dangling')).status).toBe(404);
});

test('a folder is made with those above it; a file in its place is a conflict', async () => {
  await shell('rm -rf made');
  expect(await change('made/ö/\nx', { op: 'mkdir' })).toMatchObject({
    status: 201,
    answer: { path: 'made/ö/\nx', type: 'directory' },
  });
  expect((await change('made/ö', { op: 'mkdir' })).status).toBe(200);
  await shell('touch made/file');
  expect(await change('made/file', { op: 'mkdir' })).toMatchObject({ status: 409, code: 'conflict' });
});

test('a move takes a name with its content; it replaces a file only on demand, and a folder never', async () => {
  await shell('rm -rf mv');
  await shell('mkdir -p mv/folder mv/other && echo 1 > mv/one && echo 2 > mv/two && ln -s two mv/link');
  expect(await change('mv/one', { op: 'move', to: 'mv/new/ü' })).toMatchObject({
    status: 200,
    answer: { path: 'mv/new/ü', type: 'file', size: 2 },
  });
  expect(await change('mv/new/ü', { op: 'move', to: 'mv/two' })).toMatchObject({
    status: 409,
    code: 'conflict',
  });
  expect(await readFile(inside('mv/two'), 'utf8')).toBe('2\n');
  expect((await change('mv/new/ü', { op: 'move', to: 'mv/two', overwrite: '1' })).status).toBe(200);
  expect(await readFile(inside('mv/two'), 'utf8')).toBe('1\n');
  const onto = { op: 'move', to: 'mv/other', overwrite: '1' };
  expect(await change('mv/two', onto)).toMatchObject({ status: 409, code: 'conflict' });
  expect(await change('mv/folder', onto)).toMatchObject({ status: 409, code: 'conflict' });
  expect((await change('mv/link', { op: 'move', to: 'mv/folder/link' })).status).toBe(200);
  expect(await readlink(inside('mv/folder/link'))).toBe('two');
  const itself = { op: 'move', to: 'mv/folder/deeper' };
  expect(await change('mv/folder', itself)).toMatchObject({ status: 400, code: 'invalid_request' });
  expect((await change('mv/gone', { op: 'move', to: 'mv/x' })).status).toBe(404);
});

test('a copy is whole: modes, links as links, and nothing when it is refused', async () => {
  await shell('chmod -R u+w cp; rm -rf cp');
  await shell(
    'mkdir -p cp/from/locked && echo x > cp/from/run && chmod 750 cp/from/run && ln -s /etc cp/from/out',
  );
  await shell('mkfifo cp/from/fifo && echo y > cp/from/locked/y && chmod 500 cp/from/locked');
  expect(await change('cp/from', { op: 'copy', to: 'cp/into/copy' })).toMatchObject({
    status: 200,
    answer: { path: 'cp/into/copy', type: 'directory' },
  });
  expect((await readdir(inside('cp/into/copy'))).sort()).toEqual(['locked', 'out', 'run']);
  expect(await readlink(inside('cp/into/copy/out'))).toBe('/etc');
  expect((await lstat(inside('cp/into/copy/run'))).mode & 0o777).toBe(0o750);
  expect((await lstat(inside('cp/into/copy/locked'))).mode & 0o777).toBe(0o500);
  const itself = { op: 'copy', to: 'cp/from/a/copy' };
  expect(await change('cp/from', itself)).toMatchObject({ status: 400, code: 'invalid_request' });
  expect(await change('cp/from/run', { op: 'copy', to: 'cp/from/run', overwrite: '1' })).toMatchObject({
    status: 400,
  });
  expect(await change('cp/from/run', { op: 'copy', to: 'cp/into/copy' })).toMatchObject({ status: 409 });
  expect(await change('cp/from/out', { op: 'copy', to: 'cp/etc' })).toMatchObject({
    status: 400,
    code: 'path_outside_workspace',
  });
  expect(await readdir(inside('cp'))).toEqual(expect.arrayContaining(['from', 'into']));
  expect((await readdir(inside('cp'))).filter((name) => name.startsWith('.'))).toEqual([]);
});

test.each(['mkdir', 'move', 'copy'])('W8: %s reaches nothing outside', async (op) => {
  await writeFile(join(sandbox.workspace, '..', 'victim'), 'x');
  await symlink('..', inside(`up-${op}`)).catch(() => undefined);
  await mkdir(inside('own'), { recursive: true });
  sandbox.own();
  for (const path of [`up-${op}/made`, '../made', '/etc/made', `up-${op}/victim`])
    for (const query of [
      { op, to: 'own/x' },
      { op, to: path },
    ]) {
      const from = query.to === path ? 'own' : path;
      if (op === 'mkdir' && from === 'own') continue;
      expect(await change(from, query)).toMatchObject({ status: 400, code: 'path_outside_workspace' });
    }
  expect((await readdir(join(sandbox.workspace, '..'))).includes('made')).toBe(false);
  expect(await readFile(join(sandbox.workspace, '..', 'victim'), 'utf8')).toBe('x');
});

test('an unknown op is refused, and a folder is no file to write', async () => {
  expect(await change('x', { op: 'link', to: 'y' })).toMatchObject({ status: 400, code: 'invalid_request' });
  expect((await asked('PUT', '/files/newdir%2F')).code).toBe('invalid_request');
  expect((await asked('PUT', '/files/newdir/')).code).toBe('invalid_request');
});

type Change = { readonly path: string; readonly kind: string };

/** Reads events until one is so; all changes that came by then. */
const changesUntil = async (
  stream: IncomingMessage,
  isLast: (change: Change) => boolean,
): Promise<Change[]> => {
  const seen: Change[] = [];
  let text = '';
  for await (const piece of stream) {
    text += String(piece);
    for (const [event] of text.matchAll(/event: changed\ndata: .*\n\n/g)) {
      seen.push(JSON.parse(event.split('data: ')[1] ?? ''));
      text = text.replace(event, '');
    }
    if (seen.some(isLast)) break;
  }
  stream.destroy();
  return seen;
};

test('changes below a folder are reported, also in folders made meanwhile, and of one file alone', async () => {
  await shell('rm -rf eyes; mkdir -p eyes/deep && echo 1 > eyes/deep/known && echo 1 > eyes/gone');
  const stream = await sandbox.open('GET', '/watch?path=eyes');
  expect(stream.headers['content-type']).toBe('text/event-stream');
  const one = await sandbox.open('GET', '/watch?path=eyes/deep/known');
  await shell(
    'echo 2 >> eyes/deep/known; rm eyes/gone; mkdir -p eyes/new/er; echo x > "eyes/new/er/ü"; echo z > eyes/last',
  );
  const changes = await changesUntil(stream, ({ path }) => path === 'eyes/last');
  expect(changes).toEqual(
    expect.arrayContaining([
      { path: 'eyes/deep/known', kind: 'modified' },
      { path: 'eyes/gone', kind: 'removed' },
      { path: 'eyes/new', kind: 'created' },
      { path: 'eyes/new/er/ü', kind: 'created' },
    ]),
  );
  expect(await changesUntil(one, () => true)).toEqual([{ path: 'eyes/deep/known', kind: 'modified' }]);
  expect((await asked('GET', '/watch?path=nothing')).status).toBe(404);
});
