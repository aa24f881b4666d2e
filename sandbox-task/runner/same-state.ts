/**
 * Compares a folder with the state that a file index has of it. A folder with many entries is not compared, because a save
 * would cost as much.
 */
import { type FileIndex, traitsOf } from './file-index.ts';
import { walkWorkspace } from './workspace-path.ts';

const comparedEntriesMax = 200;

export const isComparable = (index: FileIndex): boolean => index.size() <= comparedEntriesMax;

/** True when the folder has exactly the entries of the index, and each has the same stat. */
export const isAsIndexed = (folder: string, index: FileIndex): boolean => {
  if (!isComparable(index)) return false;
  let count = 0;
  for (const walked of walkWorkspace(folder)) {
    count += 1;
    if ('reason' in walked || !index.isSame(walked.path, traitsOf(walked.stat))) return false;
  }
  return count === index.size();
};
