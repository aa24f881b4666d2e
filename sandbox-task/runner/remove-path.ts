/**
 * The removal of an entry with everything below it, in steps of bounded time and memory: a folder is never held as a whole.
 *
 * A step begins where the last one ended, since what that removed is gone. Links are removed, never their targets. A folder that is closed
 * to its owner is opened for that.
 */
import { chmodSync, type Dirent, opendirSync, rmdirSync, unlinkSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { codeOf, FileRefusal, type Roots, resolveName } from './workspace-path.ts';

const stepMsMax = 5000;
const entriesPerYield = 256;
/** Of one folder, before those are emptied. */
const foldersMax = 100;
/** A program may go on to write into a folder that is removed. */
const refilledMax = 100;

/** True when nothing is left. */
export const removeStep = async (roots: Roots, path: string, msMax = stepMsMax): Promise<boolean> => {
  const target = await resolveName(roots, path);
  if (!(await lstat(target)).isDirectory()) {
    unlinkSync(target);
    return true;
  }
  const step = openStep(msMax);
  // One character is one byte, so that names which are no text are removed too.
  const top = Buffer.from(target).toString('latin1');
  const pending = [top];
  let refilled = 0;
  for (let folder = pending.at(-1); folder !== undefined; folder = pending.at(-1)) {
    const below = await emptyFolder(folder, step);
    if (step.isOver()) return false;
    if (below.length > 0) pending.push(...below);
    else if (removeFolder(folder, folder === top)) pending.pop();
    else if (++refilled > refilledMax)
      throw new FileRefusal('conflict', `${path} is written to while it is removed`);
  }
  return true;
};

type Step = { readonly isOver: () => boolean; readonly count: () => void };

/** It removes something, however short it is. */
const openStep = (msMax: number): Step => {
  const endsAt = performance.now() + msMax;
  let removed = 0;
  return {
    isOver: () => removed > 0 && performance.now() > endsAt,
    count: () => {
      removed += 1;
    },
  };
};

/** The first folders in it, when all else before them is removed. */
const emptyFolder = async (folder: string, step: Step): Promise<readonly string[]> => {
  const below: string[] = [];
  let read = 0;
  for (const entry of entriesOf(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) below.push(path);
    else {
      withAccess(folder, () => unlinkSync(bytesOf(path)));
      step.count();
    }
    if (below.length === foldersMax || step.isOver()) break;
    read += 1;
    if (read % entriesPerYield === 0) await breathe();
  }
  return below;
};

function* entriesOf(folder: string): Generator<Dirent> {
  const names = withAccess(folder, () =>
    opendirSync(bytesOf(folder), { encoding: 'latin1', bufferSize: 256 }),
  );
  if (names === undefined) return;
  try {
    for (let entry = names.readSync(); entry !== null; entry = names.readSync()) yield entry;
  } finally {
    names.closeSync();
  }
}

/** False when something is in it. */
const removeFolder = (folder: string, isTop: boolean): boolean => {
  const remove = (): void => rmdirSync(bytesOf(folder));
  try {
    if (isTop) remove();
    else withAccess(dirname(folder), remove);
  } catch (cause) {
    if (codeOf(cause) !== 'ENOTEMPTY') throw cause;
    return false;
  }
  return true;
};

/** Nothing for what is gone already. */
const withAccess = <T>(folder: string, work: () => T): T | undefined => {
  try {
    return work();
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    if (codeOf(cause) !== 'EACCES') throw cause;
    chmodSync(bytesOf(folder), 0o700);
    return work();
  }
};

const bytesOf = (path: string): Buffer => Buffer.from(path, 'latin1');
