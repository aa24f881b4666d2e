/** Comparing saved states: an effect names what a diff does not show, so that two effects that differ have two digests. */
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ManifestRef } from '#shared/domain/checkpoint.ts';
import { sha256Of } from '../../sandbox-task/server/sandbox-fixture.ts';
import { openBucket, openSandbox } from '../../tests/linked/linked-sandbox.ts';

type Sandbox = Awaited<ReturnType<typeof openSandbox>>;
let bucket: Awaited<ReturnType<typeof openBucket>>;
let sandbox: Sandbox;
beforeEach(async () => {
  bucket = await openBucket();
  sandbox = await openSandbox(bucket.bucket);
});
afterEach(async () => {
  await sandbox.close();
  await bucket.close();
});

const at = (name: string): string => join(sandbox.folder, name);
const saved = async (base?: ManifestRef): Promise<ManifestRef> => {
  sandbox.own();
  const answer = await sandbox.save(base);
  if (answer.status !== 'saved') throw new Error(JSON.stringify(answer));
  return answer.manifest;
};

test('targets, modes, kinds and contents are named where they change', async () => {
  await writeFile(at('blob.bin'), Buffer.from([0, 1, 2]));
  await writeFile(at('run.sh'), 'ls\n');
  await chmod(at('run.sh'), 0o644);
  await writeFile(at('guide.md'), 'read me\n');
  await writeFile(at('gone.bin'), Buffer.from([0, 7]));
  await symlink('guide.md', at('latest'));
  await mkdir(at('kept'));
  await chmod(at('kept'), 0o755);
  await writeFile(at('kept/a.txt'), 'a\n');
  const before = await saved();
  await writeFile(at('blob.bin'), Buffer.from([0, 1, 3]));
  await chmod(at('run.sh'), 0o755);
  await rm(at('guide.md'));
  await symlink('../.git/hooks/pre-commit', at('guide.md'));
  await rm(at('latest'));
  await symlink('/etc/passwd', at('latest'));
  await rm(at('gone.bin'));
  await writeFile(at('kept/a.txt'), 'b\n');
  await chmod(at('kept'), 0o700);
  await symlink('/etc/shadow', at('new'));
  await writeFile(at('tool'), 'x\n');
  await chmod(at('tool'), 0o755);
  const after = await saved(before);
  expect(await sandbox.compare({ before, after })).toEqual({
    status: 'compared',
    changes: 9,
    files: [
      {
        ...{ path: 'gone.bin', change: 'removed', bytes: 2, type: 'file' },
        sha256: sha256Of(Buffer.from([0, 7])),
      },
      {
        ...{ path: 'blob.bin', change: 'modified', bytes: 3, type: 'file' },
        sha256: sha256Of(Buffer.from([0, 1, 3])),
      },
      {
        ...{ path: 'guide.md', change: 'modified', bytes: 0, type: 'symlink', typeBefore: 'file' },
        target: '../.git/hooks/pre-commit',
      },
      { path: 'kept', change: 'modified', bytes: 0, type: 'directory', mode: '700', modeBefore: '755' },
      {
        ...{ path: 'kept/a.txt', change: 'modified', bytes: 2, type: 'file' },
        ...{ sha256: sha256Of(Buffer.from('b\n')), diff: '@@ -1,1 +1,1 @@\n-a\n+b' },
      },
      {
        ...{ path: 'latest', change: 'modified', bytes: 0, type: 'symlink' },
        ...{ target: '/etc/passwd', targetBefore: 'guide.md' },
      },
      {
        ...{ path: 'run.sh', change: 'modified', bytes: 3, type: 'file' },
        ...{ mode: '755', modeBefore: '644' },
      },
      { path: 'new', change: 'created', bytes: 0, type: 'symlink', target: '/etc/shadow' },
      {
        ...{ path: 'tool', change: 'created', bytes: 2, type: 'file', mode: '755' },
        ...{ sha256: sha256Of(Buffer.from('x\n')), diff: '@@ -1,0 +1,1 @@\n+x' },
      },
    ],
  });
});
