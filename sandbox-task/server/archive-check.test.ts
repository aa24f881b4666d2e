import { expect, test } from 'vitest';
import type { ArchiveHeader } from '#shared/contracts/archive.ts';
import { createArchiveCheck } from './archive-check.ts';

const begin: ArchiveHeader = { type: 'begin', isFull: true };
const end: ArchiveHeader = { type: 'end' };
const file: ArchiveHeader = { type: 'file', path: 'a', mode: 0o644, mtimeMs: 0, size: 3 };
const same: ArchiveHeader = { ...file, same: true };
const data: ArchiveHeader = { type: 'data' };
const fileEnd = (size: number): ArchiveHeader => ({ type: 'file-end', size, isWhole: true });
const folder: ArchiveHeader = { type: 'directory', path: 'f', mode: 0o755 };

/** Data frames have three bytes here. */
const check = (headers: readonly ArchiveHeader[]): boolean => {
  const archive = createArchiveCheck();
  for (const header of headers) {
    archive.check({ header, payload: new Uint8Array(header.type === 'data' ? 3 : 0) });
  }
  return archive.isEnded();
};

test('frames in order are accepted', () => {
  expect(check([begin, folder, file, data, data, fileEnd(6), same, file, fileEnd(0), end])).toBe(true);
  expect(check([begin, folder])).toBe(false);
});

test.each<[string, ArchiveHeader[], string]>([
  ['a start without begin', [folder], 'directory at the wrong place'],
  ['a second begin', [begin, begin], 'begin at the wrong place'],
  ['data of no file', [begin, data], 'data at the wrong place'],
  ['data of a file that is the same', [begin, same, data], 'data at the wrong place'],
  ['an entry inside a file', [begin, file, folder], 'directory at the wrong place'],
  ['an end inside a file', [begin, file, end], 'end at the wrong place'],
  ['a file that is longer than it says', [begin, file, data, fileEnd(2)], 'a file of 3 bytes that says 2'],
  ['anything after the end', [begin, end, folder], 'directory after its end'],
])('%s is refused', (_, headers, message) => {
  expect(() => check(headers)).toThrow(`the archive is malformed: ${message}`);
});

test('a payload belongs to data only', () => {
  const archive = createArchiveCheck();
  expect(() => archive.check({ header: begin, payload: new Uint8Array(1) })).toThrow(
    'begin at the wrong place',
  );
});

test('more entries than a workspace may have are refused', () => {
  expect(check([begin, ...Array.from({ length: 50_000 }, () => folder), end])).toBe(true);
  expect(() => check([begin, ...Array.from({ length: 50_001 }, () => folder)])).toThrow(
    'the archive has 50001 entries; at most 50000',
  );
});

test('more bytes than a workspace may have are refused', () => {
  const archive = createArchiveCheck();
  const payload = new Uint8Array(262_144);
  for (const header of [begin, file]) archive.check({ header, payload: new Uint8Array(0) });
  for (let piece = 0; piece < 8192; piece += 1) archive.check({ header: data, payload });
  expect(() => archive.check({ header: data, payload: new Uint8Array(1) })).toThrow(
    'the archive has 2147483649 bytes; at most 2147483648',
  );
});
