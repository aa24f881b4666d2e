/** Packages for work in sandboxes: which are missing, who installs them, and what is said. */
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inspectWork, installWorkPackages, planWorkPackages } from './work-packages.ts';

const everything = ['git', 'curl', 'jq', 'rg', 'make', 'gcc', 'apt-get'].map((name) => `/usr/bin/${name}`);
const plan = (change: Partial<Parameters<typeof planWorkPackages>[0]> = {}) =>
  planWorkPackages({
    hasProgram: (path) => everything.includes(path),
    missingModules: [],
    isRoot: true,
    ...change,
  });

test('a machine with all of it needs nothing', () => {
  expect(plan()).toEqual({ kind: 'complete' });
});

test('root on a Debian installs exactly what is missing', () => {
  expect(
    plan({ missingModules: ['numpy', 'ensurepip'], hasProgram: (path) => path === '/usr/bin/apt-get' }),
  ).toEqual({
    kind: 'install',
    packages: ['python3-numpy', 'python3-venv', 'git', 'curl', 'jq', 'ripgrep', 'make', 'gcc'],
  });
});

test('anyone else is told what is missing, and the one command that adds it', () => {
  expect(plan({ missingModules: ['pandas'], isRoot: false })).toEqual({
    kind: 'advise',
    line: 'Code in sandboxes cannot use python3-pandas yet. Run "sudo apt-get install --no-install-recommends python3-pandas" to install it.',
  });
});

test('the Python of sandboxes is asked, and knows its own modules', async () => {
  expect((await inspectWork('/usr/bin')).missingModules).not.toContain('json');
});

/** An apt-get that writes its arguments down and does what the test says. */
const open = async (script: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-packages-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const aptGet = join(folder, 'apt-get');
  await writeFile(aptGet, `#!/bin/sh\necho "$@" >> ${folder}/asked\n${script}\n`);
  await chmod(aptGet, 0o755);
  const said: string[] = [];
  const install = () =>
    installWorkPackages(
      { kind: 'install', packages: ['jq'] },
      { progress: (line) => said.push(line), aptGet, folder: join(folder, 'marker') },
    );
  const markers = () => readdir(join(folder, 'marker'));
  return { folder, said, install, markers, asked: () => readFile(join(folder, 'asked'), 'utf8') };
};

test('an installation is marked while it runs, and its end is said', async () => {
  const { folder, said, install, markers, asked } = await open(`until [ -e "$0".go ]; do sleep 0.05; done`);
  const { ended } = install();
  expect(await markers()).toEqual(['installing']);
  await writeFile(join(folder, 'apt-get.go'), '');
  await ended;
  expect(await markers()).toEqual([]);
  expect(await asked()).toBe('install -o DPkg::Lock::Timeout=600 -y -q --no-install-recommends jq\n');
  expect(said).toEqual([
    'Installing jq in the background: Python code that imports them waits',
    'Installed jq',
  ]);
});

test('after a failure the lists are updated, and a second failure is said with its command', async () => {
  const { said, install, markers, asked } = await open('[ "$1" = update ]');
  await install().ended;
  expect((await asked()).split('\n').map((line) => line.split(' ')[0])).toEqual([
    'install',
    'update',
    'install',
    '',
  ]);
  expect(said.at(-1)).toBe(
    'Could not install jq: run "sudo apt-get install --no-install-recommends jq" to see why',
  );
  expect(await markers()).toEqual([]);
});

test('a stop ends the mark and starts no second try, and lets apt-get end by itself', async () => {
  const { folder, said, install, markers, asked } = await open(
    `until [ -e "$0".go ]; do sleep 0.05; done; false`,
  );
  const { ended, stop } = install();
  stop();
  expect(await markers()).toEqual([]);
  await writeFile(join(folder, 'apt-get.go'), '');
  await ended;
  expect((await asked()).trim().split('\n')).toHaveLength(1);
  expect(said).toHaveLength(1);
});
