import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copySteps } from './folder-changes.ts';

test('a copy of many small files is made in steps: each piece of work is short', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'sallyport-copy-'));
  try {
    await mkdir(join(workspace, 'from'));
    const names = Array.from({ length: 600 }, (_, at) => String(at));
    await Promise.all(names.map((name) => writeFile(join(workspace, 'from', name), '')));
    let steps = 0;
    for await (const _ of copySteps({ workspace }, { path: 'from', to: 'to', overwrites: false })) steps += 1;
    expect(steps).toBe(2);
    expect((await readdir(join(workspace, 'to'))).length).toBe(600);
  } finally {
    await rm(workspace, { recursive: true });
  }
});
