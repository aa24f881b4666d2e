/** The workspace outlives its sandboxes: what comes back, what does not, and who is told. */
import { createCipheriv } from 'node:crypto';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAgent, restSandbox, sandboxRecord, systemData, systemEvents, toolOutput } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { killServer } from './sandbox-processes.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

const megabyte = 1_048_576;
const partBytes = 4 * megabyte;

const python = (code: string): string => `\`\`\`python\n${code}\n\`\`\``;

const putFile = (
  id: string,
  path: string,
  { body, range }: { readonly body: string | Buffer; readonly range?: string },
): Promise<Response> =>
  cloud.request(`/api/sessions/${id}/files/${path}`, {
    method: 'PUT',
    body,
    headers: {
      'content-type': 'application/octet-stream',
      ...(range === undefined ? {} : { 'content-range': range }),
    },
  });

type Stored = { readonly key: string; readonly file: string; readonly size: number };

/** A workspace's objects in the bucket, by kind. */
const stored = async (workspace: string, kind: 'packs' | 'manifests'): Promise<readonly Stored[]> => {
  const bucket = join(cloud.home, 's3', 'sallyport-workspaces');
  const names = await readdir(join(bucket, 'records'));
  const records = await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(bucket, 'records', name), 'utf8')) as Stored),
  );
  return records
    .filter(({ key }) => key.startsWith(`workspaces/${workspace}/${kind}/`))
    .map(({ file, ...record }) => ({ ...record, file: join(bucket, 'bytes', file) }));
};

const flipFirstByte = async ({ file }: Stored): Promise<void> => {
  const handle = await open(file, 'r+');
  const byte = Buffer.alloc(1);
  await handle.read(byte, 0, 1, 0);
  byte.writeUInt8(byte.readUInt8() ^ 0xff);
  await handle.write(byte, 0, 1, 0);
  await handle.close();
};

const furnish = python(`
import os
def write(path, content, mode=0o644):
    with open(path, 'wb') as file: file.write(content)
    os.chmod(path, mode)
os.makedirs('a/b/c'); os.makedirs('hollow/inside'); os.mkdir('sealed')
write('empty', b'')
write('run.sh', b'#!/bin/sh\\necho ran\\n', 0o755)
write('private', b'mine', 0o600)
write('a/b/c/bytes', bytes(range(256)))
write('naïve ☂ name with spaces.txt', 'größe'.encode())
write('sealed/kept', b'kept', 0o444)
os.symlink('a/b/c/bytes', 'relative'); os.symlink('nowhere', 'dangling'); os.symlink('/etc/passwd', 'absolute')
for folder, _, names in os.walk('.'):
    for name in names:
        path = os.path.join(folder, name)
        if not os.path.islink(path): os.utime(path, (1700000000.25, 1700000000.25))
os.chmod('sealed', 0o555)
`);

/** Everything below the workspace: type, mode, size, the start of the hash, the time in microseconds; or the target. */
const survey = python(`
import hashlib, os, stat
for folder, folders, files in os.walk('.'):
    for name in folders + files:
        path = os.path.relpath(os.path.join(folder, name))
        seen = os.lstat(path); mode = oct(stat.S_IMODE(seen.st_mode))[2:]
        if stat.S_ISLNK(seen.st_mode): line = 'link ' + os.readlink(path)
        elif stat.S_ISDIR(seen.st_mode): line = 'folder ' + mode
        else:
            content = open(path, 'rb').read()
            moment = '' if name == 'large.bin' else str(seen.st_mtime_ns // 1000)
            line = f'file {mode} {len(content)} {hashlib.sha256(content).hexdigest()[:16]} {moment}'
        print('|' + path + '|' + line.strip())
`);

const surveyed = (output: string): readonly string[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .sort();

const furnished = [
  '|a/b/c/bytes|file 644 256 40aff2e9d2d8922e 1700000000250000',
  '|a/b/c|folder 755',
  '|a/b|folder 755',
  '|absolute|link /etc/passwd',
  '|a|folder 755',
  '|dangling|link nowhere',
  '|empty|file 644 0 e3b0c44298fc1c14 1700000000250000',
  '|hollow/inside|folder 755',
  '|hollow|folder 755',
  '|large.bin|file 644 52428800 1663099e0bcd9ff1',
  '|naïve ☂ name with spaces.txt|file 644 7 d353a2671b67afff 1700000000250000',
  '|private|file 600 4 3fd30542fe3f61b1 1700000000250000',
  '|relative|link a/b/c/bytes',
  '|run.sh|file 755 19 e23628ed42e31358 1700000000250000',
  '|sealed/kept|file 444 4 79f076abdd19a752 1700000000250000',
  '|sealed|folder 555',
];

test('an idle session gets back every byte, mode, time and link, and only the changes were saved again', async () => {
  const agent = await openAgent(cloud);
  await agent.say(furnish);
  // Incompressible and the same at every run.
  const large = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(
    Buffer.alloc(50 * megabyte),
  );
  for (let start = 0; start < large.length; start += partBytes) {
    const part = large.subarray(start, start + partBytes);
    const end = start + part.length;
    const range = `bytes ${start}-${end - 1}/${large.length}`;
    const { status } = await putFile(agent.id, 'large.bin', { body: part, range });
    expect(status).toBe(end < large.length ? 202 : 201);
  }
  // A file that changed in the very tick of its save is sent with the next one, too.
  expect((await putFile(agent.id, 'later.txt', { body: 'later' })).status).toBe(201);
  const deleted = await cloud.request(`/api/sessions/${agent.id}/files/later.txt`, { method: 'DELETE' });
  expect(deleted.status).toBe(204);
  const before = await stored(agent.workspace, 'packs');
  expect(before.map(({ size }) => size).reduce((sum, size) => sum + size)).toBeGreaterThan(50 * megabyte);

  expect((await putFile(agent.id, 'note.txt', { body: 'a few bytes' })).status).toBe(201);
  const known = new Set(before.map(({ key }) => key));
  const added = (await stored(agent.workspace, 'packs')).filter(({ key }) => !known.has(key));
  expect(added.map(({ size }) => size < 1024)).toEqual([true]);
  const { status } = await cloud.request(`/api/sessions/${agent.id}/files/note.txt`, { method: 'DELETE' });
  expect(status).toBe(204);

  expect(surveyed(await agent.run(survey))).toEqual(furnished);
  await restSandbox(cloud, agent.id);
  const frames = await agent.say(survey);
  expect(surveyed(toolOutput(frames))).toEqual(furnished);
  expect(systemData(frames, 'sandbox_started')).toEqual([
    { kind: 'sandbox_started', source: 'cold', startMs: expect.any(Number), restored: 7 },
  ]);
  expect(systemData(frames, 'workspace_restored')).toEqual([
    { kind: 'workspace_restored', files: 7, savedAt: expect.any(String), missing: [] },
  ]);
  expect(await agent.run('$ ./run.sh; echo more > sealed/more; head -c 4 relative | xxd -p')).toMatch(
    /ran\n[\s\S]*00010203/,
  );
  await agent.close();
});

test('L10: a file whose saved bytes were changed is not restored and named to the model; the others are', async () => {
  const agent = await openAgent(cloud);
  await agent.say('write kept.txt kept');
  const known = new Set((await stored(agent.workspace, 'packs')).map(({ key }) => key));
  await agent.say('write spoiled.txt to be spoiled');
  await restSandbox(cloud, agent.id);
  const manifests = await stored(agent.workspace, 'manifests');
  const { pack } = await spoiledEntry(manifests, 'spoiled.txt');
  const packs = await stored(agent.workspace, 'packs');
  const spoiled = packs.find(({ key }) => key.endsWith(`/${pack}`));
  expect(known.has(spoiled?.key ?? '')).toBe(false);
  if (spoiled !== undefined) await flipFirstByte(spoiled);

  const frames = await agent.say('$ ls; cat kept.txt');
  expect(systemData(frames, 'workspace_restored')).toMatchObject([{ files: 1, missing: ['spoiled.txt'] }]);
  const output = toolOutput(frames);
  expect(output.split('\n').filter((line) => line.endsWith('.txt'))).toEqual(['kept.txt']);
  const { messages } = await cloud.ask<{ messages: readonly object[] }>(`/api/sessions/${agent.id}/messages`);
  expect(JSON.stringify(messages)).toContain(
    'These files did not come back: spoiled.txt (its content differs from what was saved).',
  );
  await agent.close();
});

type Entries = { readonly entries: readonly { readonly path: string; readonly pack?: string }[] };

/** The entry of a file in the newest manifest: no other names it. */
const spoiledEntry = async (
  manifests: readonly Stored[],
  path: string,
): Promise<{ readonly pack: string }> => {
  for (const { file } of manifests) {
    const { entries } = JSON.parse(await readFile(file, 'utf8')) as Entries;
    const pack = entries.find((entry) => entry.path === path)?.pack;
    if (pack !== undefined) return { pack };
  }
  throw new Error(`no manifest names ${path}`);
};

test('a changed manifest is refused, and the model is told that nothing was restored', async () => {
  const agent = await openAgent(cloud);
  await agent.say('write one.txt one');
  await restSandbox(cloud, agent.id);
  for (const manifest of await stored(agent.workspace, 'manifests')) await flipFirstByte(manifest);
  const frames = await agent.say('$ ls -A | wc -l');
  expect(systemData(frames, 'workspace_restored')).toMatchObject([
    { files: 0, missing: [], refused: 'the manifest is not the one that was saved' },
  ]);
  expect(toolOutput(frames)).toContain('0\n');
  const { messages } = await cloud.ask<{ messages: readonly object[] }>(`/api/sessions/${agent.id}/messages`);
  expect(JSON.stringify(messages)).toContain(
    'The workspace could not be restored: the manifest is not the one that was saved.',
  );
  await agent.close();
});

test('L11: a sandbox killed after a completion loses nothing of that turn, and the loss is reported', async () => {
  const agent = await openAgent(cloud);
  await agent.say('$ mkdir -p deep/er; echo of this turn > deep/er/file; ln -s deep/er/file link');
  const { taskArn = '' } = await sandboxRecord(cloud, agent.workspace);
  killServer(cloud.home, taskArn);
  // The event is written a moment after the record.
  const stops = await eventually(
    () => systemEvents(cloud, agent.id, 'sandbox_stopped'),
    ({ length }) => length > 0,
  );
  expect(stops).toEqual([
    {
      kind: 'sandbox_stopped',
      reason: expect.stringContaining('exit code 137'),
      savedAt: expect.any(String),
    },
  ]);
  const frames = await agent.say('$ cat link');
  expect(toolOutput(frames)).toContain('of this turn\n');
  expect(frames.at(-1)?.data).toHaveProperty('workspace', { savedAt: expect.any(String) });
  expect(systemData(frames, 'workspace_restored')).toMatchObject([{ files: 1, missing: [] }]);
  const { messages } = await cloud.ask<{ messages: readonly object[] }>(`/api/sessions/${agent.id}/messages`);
  expect(JSON.stringify(messages)).toMatch(
    /The sandbox before this one was lost: [^.]*exit code 137[^.]*\. Running programs were lost\. Files are as they were at /,
  );
  await agent.close();
});

test('L15: the agent is told once of a loss, though a person who opened a file started the next sandbox', async () => {
  const agent = await openAgent(cloud);
  await agent.say('$ echo kept > file');
  killServer(cloud.home, (await sandboxRecord(cloud, agent.workspace)).taskArn ?? '');
  await eventually(
    () => systemEvents(cloud, agent.id, 'sandbox_stopped'),
    ({ length }) => length > 0,
  );
  expect(await (await cloud.request(`/api/sessions/${agent.id}/files/file`)).text()).toBe('kept\n');
  for (const command of ['$ cat file', '$ echo again'])
    expect(systemData(await agent.say(command), 'sandbox_started')).toEqual([]);
  const { messages } = await cloud.ask<{ messages: readonly object[] }>(`/api/sessions/${agent.id}/messages`);
  const isTold = (message: object) =>
    JSON.stringify(message).includes('The sandbox before this one was lost');
  expect(
    messages.filter((message) => Reflect.get(message, 'role') === 'tool' && isTold(message)),
  ).toHaveLength(1);
  await agent.close();
});

test('a workspace with too many files is not saved, which is reported to the turn and to a writer', async () => {
  const agent = await openAgent(cloud);
  const frames = await agent.say(python('for n in range(50_001): open(f"{n}", "w").close()'));
  expect(systemData(frames, 'workspace_not_saved')).toEqual([
    { kind: 'workspace_not_saved', reason: 'the workspace has 50001 entries; at most 50000 can be saved' },
  ]);
  expect(frames.at(-1)).toMatchObject({ type: 'completion', data: { workspace: { lost: true } } });
  const { messages } = await cloud.ask<{ messages: readonly { text: string }[] }>(
    `/api/sessions/${agent.id}/messages`,
  );
  const notice = messages.findIndex(({ text }) =>
    text.includes('None of the files in the workspace is saved.'),
  );
  // The model answers once more after it.
  expect(messages.slice(notice).map((message) => Reflect.get(message, 'role'))).toEqual([
    'user',
    'assistant',
  ]);
  const response = await putFile(agent.id, 'one-more', { body: 'x' });
  expect([response.status, await response.json()]).toMatchObject([
    429,
    {
      error: {
        code: 'resource_limit_exceeded',
        message:
          'the file is written, but not saved: the workspace has 50002 entries; at most 50000 can be saved',
        suggestions: ['Remove files that are no longer needed.'],
      },
    },
  ]);
  await agent.close();
});
