import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { compileCache, serverFiles } from './bundle.ts';
import { combineDockerfiles, templateTarget, writeTemplateFolder } from './template-image.ts';

const sandbox = await readFile(join(import.meta.dirname, 'Dockerfile'), 'utf8');
const folder = await mkdtemp(join(tmpdir(), 'template-image-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const stagesOf = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line.startsWith('FROM'));

test.each([
  ['FROM debian:12\nRUN true\n', ['FROM debian:12 AS sallyport-template'], 'sallyport-template'],
  ['FROM debian:12 AS tools\nUSER me\n', ['FROM debian:12 AS tools'], 'tools'],
  [
    'FROM a as first\nFROM --platform=linux/arm64 b \nCOPY --from=first /x /x',
    ['FROM a as first', 'FROM --platform=linux/arm64 b AS sallyport-template'],
    'sallyport-template',
  ],
])('the platform’s stage stands on the last one of %j', (own, stages, last) => {
  const text = combineDockerfiles(own, sandbox);
  expect(stagesOf(text)).toEqual([...stages, `FROM ${last} AS ${templateTarget}`]);
  expect(text).toContain('ENTRYPOINT ["node"');
  expect(text).toContain(`FROM ${last} AS ${templateTarget}\nUSER 0\n`);
});

test('the platform’s stage works as root on an image that names another user', () => {
  const [, base = ''] = /^FROM \$\{NODE_IMAGE\} AS base\n([\s\S]*?)^FROM /m.exec(sandbox) ?? [];
  const [first] = base.split('\n').filter((line) => !line.startsWith('#'));
  expect(first).toBe('USER 0');
  expect(base.match(/^USER .*/gm)).toEqual(['USER 0']);
});

test('a file without a stage is refused', () => {
  expect(() => combineDockerfiles('RUN true\n', sandbox)).toThrow('has no FROM');
});

test('the folder holds the operator’s files and every file that the platform’s stage copies', async () => {
  const own = join(folder, 'own');
  await mkdir(join(own, '.git'), { recursive: true });
  await writeFile(join(own, 'science.Dockerfile'), 'FROM debian:12\nCOPY data.csv /data.csv\n');
  await writeFile(join(own, 'data.csv'), '1,2\n');
  await writeFile(join(own, '.dockerignore'), '*\n!data.csv\n');
  const target = join(folder, 'target');
  await writeTemplateFolder(join(own, 'science.Dockerfile'), target);
  const text = await readFile(join(target, 'Dockerfile'), 'utf8');
  const copied = [...text.matchAll(/\.sallyport\/[\w.*-]+/g)].map(([path]) => path);
  const programs = await readdir(join(target, '.sallyport'));
  expect(programs).toEqual(expect.arrayContaining([...serverFiles, 'runner.mjs', 'confine.py']));
  const taken = (pattern: string) => programs.filter((name) => matchesGlob(`.sallyport/${name}`, pattern));
  expect(copied.filter((pattern) => taken(pattern).length === 0)).toEqual([]);
  // The image makes a compile cache of its own.
  expect(new Set([...copied.flatMap(taken), compileCache])).toEqual(new Set(programs));
  expect(await readdir(target)).toEqual(
    expect.arrayContaining(['.dockerignore', '.sallyport', 'Dockerfile', 'data.csv', 'science.Dockerfile']),
  );
  expect(await readdir(target)).not.toContain('.git');
  expect(await readFile(join(target, '.dockerignore'), 'utf8')).toBe(
    '*\n!data.csv\n\n!.sallyport\n!.sallyport/**\n',
  );
});

test('a Dockerfile that is not there is named', async () => {
  await expect(writeTemplateFolder(join(folder, 'none'), join(folder, 'other'))).rejects.toThrow(
    /none cannot be read: ENOENT/,
  );
});
