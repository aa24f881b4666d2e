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

test('outputs have a bound in bytes', () => {
  const mebibytes = 1_048_576;
  const names = [0, 1, 2, 3].map((at) => leave(at, 200 * mebibytes));
  expect(readdirSync(folder).length).toBe(4);
  const added = store('new');
  expect(readdirSync(folder).sort()).toEqual([...names.slice(-2), added].sort());
});
