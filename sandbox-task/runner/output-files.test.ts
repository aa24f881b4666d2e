import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RunnerSettings } from '../wire/messages.ts';
import { createFileServer } from './file-requests.ts';
import { outputFilesOf } from './output-files.ts';

let workspace: string;
let folder: string;
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'sallyport-outputs-'));
  folder = join(workspace, '.sallyport/outputs');
  mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(workspace, { recursive: true }));

/** An earlier output of that size, so many seconds after the first. */
const leave = (seconds: number, bytes: number): string => {
  const name = `${seconds.toString(16).padStart(36, '0')}.stdout.txt`;
  writeFileSync(join(folder, name), '');
  truncateSync(join(folder, name), bytes);
  utimesSync(join(folder, name), 1_700_000_000 + seconds, 1_700_000_000 + seconds);
  return name;
};

const store = (text: string): string => {
  const stored = outputFilesOf({ workspace, storedOver: 1 })?.open('stdout');
  stored?.push(Buffer.from(text));
  return stored?.close().file?.path.split('/').at(-1) ?? '';
};

test('the oldest outputs give way to a new one, and nothing else does', () => {
  writeFileSync(join(folder, 'notes.txt'), 'of the user');
  const many = Array.from({ length: 600 }, (_, at) => leave(at, 1));
  const added = store('new');
  expect(readdirSync(folder).sort()).toEqual([...many.slice(-499), added, 'notes.txt'].sort());
});

test('long results of tools count with them, by whichever path they are written', async () => {
  const many = Array.from({ length: 499 }, (_, at) => leave(at, 1));
  const settings = { workspace } as RunnerSettings;
  const write = (path: string) =>
    createFileServer(settings, () => undefined)({ type: 'write', id: 1, path }, Buffer.from('whole'));
  await write('.sallyport/outputs/notes.txt');
  const names = ['tool-t-1-call_1.txt', `${'k'.repeat(100)}.txt`, 'trial-t-2-call_2.txt'];
  await write(`.sallyport/outputs/${names[0]}`);
  await write(`./.sallyport//outputs/${names[1]}`);
  await write(join(folder, names[2] ?? ''));
  expect(readdirSync(folder).sort()).toEqual([...many.slice(2), ...names, 'notes.txt'].sort());
  // A file elsewhere with such a name is one of the user.
  await write('tool-t-3.txt');
  expect(readdirSync(folder).length).toBe(501);
});

test('outputs have a bound in bytes', () => {
  const mebibytes = 1_048_576;
  const names = [0, 1, 2, 3].map((at) => leave(at, 200 * mebibytes));
  expect(readdirSync(folder).length).toBe(4);
  const added = store('new');
  expect(readdirSync(folder).sort()).toEqual([...names.slice(-2), added].sort());
});
