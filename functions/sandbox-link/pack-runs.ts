/**
 * Which ranges of which packs a restore reads: as few as there can be without reading much that is dead.
 *
 * Pure: it takes entries and gives runs, each of one pack and in the order of its bytes.
 */
import type { ManifestEntry } from '#shared/domain/checkpoint.ts';
import type { FileEntry } from './manifest.ts';

export type PackRun = {
  readonly pack: string;
  readonly offset: number;
  readonly length: number;
  readonly files: readonly FileEntry[];
};

/** Dead bytes between two files that are read and dropped rather than asked around. */
const gapBytesMax = 8 * 1024 * 1024;

export const planPackRuns = (entries: readonly ManifestEntry[]): readonly PackRun[] => {
  const files = entries.filter((entry) => entry.type === 'file');
  return [...Map.groupBy(files, ({ pack }) => pack)].flatMap(([pack, ofPack]) =>
    splitAtGaps(ofPack.toSorted((a, b) => a.offset - b.offset)).map((group) => runOf(pack, group)),
  );
};

const endOf = ({ offset, size }: FileEntry): number => offset + size;

const splitAtGaps = (sorted: readonly FileEntry[]): FileEntry[][] => {
  const groups: FileEntry[][] = [];
  let end = 0;
  for (const file of sorted) {
    const group = groups.at(-1);
    if (group === undefined || file.offset - end > gapBytesMax) groups.push([file]);
    else group.push(file);
    end = endOf(file);
  }
  return groups;
};

const runOf = (pack: string, files: readonly FileEntry[]): PackRun => {
  const offset = files[0]?.offset ?? 0;
  const end = files.reduce((last, file) => Math.max(last, endOf(file)), offset);
  return { pack, offset, length: end - offset, files };
};
