/** Saves and restores with the sandbox as it is: its server and runner as processes of this machine. */
import { chmod, chown, mkdir, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { WorkspaceBucket } from '#shared/adapters/aws/workspace-bucket.ts';
import type { ManifestRef } from '#shared/domain/checkpoint.ts';
import { type LinkedSandbox, openBucket, openSandbox, outline } from '../../tests/linked/linked-sandbox.ts';

const bucketOfTest = async () => {
  const { bucket, close } = await openBucket();
  onTestFinished(close);
  return bucket;
};
const sandboxOfTest = async (bucket: WorkspaceBucket) => {
  const sandbox = await openSandbox(bucket);
  onTestFinished(sandbox.close);
  return sandbox;
};
const savedIn = async (sandbox: LinkedSandbox, base?: ManifestRef): Promise<ManifestRef> => {
  const saved = await sandbox.save(base);
  if (saved.status !== 'saved') throw new Error(JSON.stringify(saved));
  return saved.manifest;
};
/** Without times. */
const contentsOf = async ({ folder }: LinkedSandbox) =>
  (await outline(folder)).map(({ modifiedAt: _time, ...entry }) => entry);

test('a workspace is restored unchanged in the next sandbox, and has no changes then', async () => {
  const bucket = await bucketOfTest();
  const first = await sandboxOfTest(bucket);
  await mkdir(join(first.folder, 'src/deep'), { recursive: true });
  await writeFile(join(first.folder, 'src/deep/größe.txt'), 'grüße');
  await writeFile(join(first.folder, 'run.sh'), '#!/bin/sh\n');
  await chmod(join(first.folder, 'run.sh'), 0o755);
  await writeFile(join(first.folder, 'empty'), '');
  await writeFile(join(first.folder, 'large'), Buffer.alloc(12_000_000, 'sallyport'));
  await symlink('src/deep', join(first.folder, 'link'));
  for (const name of ['run.sh', 'empty', 'large', 'src/deep/größe.txt'])
    await utimes(join(first.folder, name), 1_700_000_000.123, 1_700_000_000.123);
  await chmod(join(first.folder, 'src/deep'), 0o500);
  first.own();
  const saved = await first.save();
  if (saved.status !== 'saved') throw new Error(JSON.stringify(saved));
  expect([saved.files, saved.bytes, saved.leftOut]).toEqual([4, 12_000_017, []]);
  expect(await first.save(saved.manifest)).toMatchObject({ status: 'unchanged' });

  const second = await sandboxOfTest(bucket);
  expect(await second.restore(saved.manifest)).toEqual({ status: 'restored', files: 4, missing: [] });
  expect(await outline(second.folder)).toEqual(await outline(first.folder));
  expect(await second.save(saved.manifest)).toMatchObject({ status: 'unchanged' });

  await writeFile(join(second.folder, 'new'), 'new');
  second.own();
  const next = await second.save(saved.manifest);
  expect(next).toMatchObject({ status: 'saved', files: 5, bytes: 12_000_020 });
});

test('an unreadable file is reported each time, and prevents no later save', async () => {
  const sandbox = await sandboxOfTest(await bucketOfTest());
  await writeFile(join(sandbox.folder, 'open'), 'x');
  await writeFile(join(sandbox.folder, 'closed'), 'x', { mode: 0o000 });
  sandbox.own();
  const reason = 'it cannot be read: EACCES';
  const leftOut = sandbox.isRoot ? [] : [{ path: 'closed', reason }];
  // A stat that young is sent again anyway.
  await delay(100);
  const saved = await sandbox.save();
  if (saved.status !== 'saved') throw new Error(JSON.stringify(saved));
  expect(saved.leftOut).toEqual(leftOut);
  expect(await sandbox.save(saved.manifest)).toMatchObject({ status: 'unchanged' });
  await writeFile(join(sandbox.folder, 'new'), 'x');
  expect(await sandbox.save(saved.manifest)).toMatchObject({ status: 'saved', leftOut });
});

test('a result is applied below folders that are closed to writing, and these stay closed', async () => {
  const bucket = await bucketOfTest();
  const live = await sandboxOfTest(bucket);
  const trial = await sandboxOfTest(bucket);
  const made =
    'mkdir -p d/e top; echo one > d/f; echo two > d/e/g; echo three > top/h; chmod 555 d/e; chmod 555 d top .';
  for (const { callTool } of [live, trial]) await callTool('execute_command', { command: made });
  let before = await savedIn(trial);
  const commands = [
    'echo more >> d/f; chmod 755 d/e/g; chmod 500 top',
    'chmod -R u+w d && rm -rf d/e d/f && echo new > d/n && chmod 555 d',
    'chmod u+w . && chmod -R u+w d top && rm -rf d top && echo end > d && chmod 555 .',
  ];
  for (const command of commands) {
    await trial.callTool('execute_command', { command });
    const after = await savedIn(trial, before);
    expect(await live.apply({ before, after })).toMatchObject({ status: 'applied', missing: [] });
    expect(await contentsOf(live)).toEqual(await contentsOf(trial));
    expect((await stat(live.folder)).mode & 0o777).toBe(0o555);
    before = after;
  }
});

const closedFolders =
  'mkdir -p d/e a/b p; echo one > d/e/g; echo two > a/f; echo three > p/f; ln -s p to; chmod 555 d/e a';
/** Two with the same files, and the state of both. */
const alike = async (command: string) => {
  const bucket = await bucketOfTest();
  const live = await sandboxOfTest(bucket);
  const trial = await sandboxOfTest(bucket);
  for (const { callTool } of [live, trial]) await callTool('execute_command', { command });
  return { live, trial, before: await savedIn(trial) };
};
/** A folder that the user's programs may change, outside of the workspace. */
const makeBeside = async (workspace: string): Promise<void> => {
  const beside = join(workspace, '../beside/e');
  await mkdir(beside, { recursive: true });
  const { uid, gid } = await stat(workspace);
  await chown(beside, uid, gid);
  await chmod(beside, 0o755);
};

test.each([
  [
    'a file, beside another closed one',
    'chmod u+w d/e a; rm -r d; echo end > d; echo more > a/f; chmod 555 a',
  ],
  ['a link to where it was moved', 'mv d d2; chmod 755 d2/e; ln -s d2 d'],
  ['a link to a folder elsewhere', 'chmod u+w d/e; rm -r d; ln -s ../beside d'],
  ['a file, where it was open', 'rm -r p; echo end > p'],
  ['a link, where it was open', 'rm -r p; ln -s a p'],
  ['another, with folders in place of a file and a link', 'rm p/f to; mkdir p/f to; touch p/f/new to/new'],
])('a folder is replaced by %s, and the same again changes nothing', async (_name, command) => {
  const { live, trial, before } = await alike(closedFolders);
  for (const { folder } of [live, trial]) await makeBeside(folder);
  await trial.callTool('execute_command', { command });
  const after = await savedIn(trial, before);
  for (const _time of ['first', 'again']) {
    expect(await live.apply({ before, after })).toMatchObject({ status: 'applied', missing: [] });
    expect(await contentsOf(live)).toEqual(await contentsOf(trial));
    expect((await stat(join(live.folder, '../beside/e'))).mode & 0o777).toBe(0o755);
  }
});

test('a folder that an application has opened and left open is closed by the next one', async () => {
  const { live, trial, before } = await alike(closedFolders);
  await trial.callTool('execute_command', { command: 'chmod u+w a; echo more > a/f; chmod u-w a' });
  const after = await savedIn(trial, before);
  await live.callTool('execute_command', { command: 'chmod 755 a' });
  expect(await live.apply({ before, after })).toMatchObject({ status: 'applied', missing: [] });
  expect(await contentsOf(live)).toEqual(await contentsOf(trial));
});

test('a folder is removed with what an upload that never ended has left in it', async () => {
  const bucket = await bucketOfTest();
  const live = await sandboxOfTest(bucket);
  const trial = await sandboxOfTest(bucket);
  await trial.callTool('execute_command', { command: 'mkdir d; touch d/f' });
  await live.callTool('execute_command', {
    command: 'mkdir d; touch d/f d/.sallyport-partial-left; chmod 555 d',
  });
  const before = await savedIn(trial);
  await trial.callTool('execute_command', { command: 'rm -r d' });
  const after = await savedIn(trial, before);
  expect(await live.apply({ before, after })).toMatchObject({ status: 'applied', missing: [] });
  expect(await outline(live.folder)).toEqual([]);
});
