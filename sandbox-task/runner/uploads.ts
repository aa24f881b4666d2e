/**
 * Uploads in parts: each part is appended to a hidden partial, the last one gives it its name.
 *
 * The partial's own length says what came, so nothing is remembered that could be wrong; a part that does
 * not start there is refused with the byte that is expected. Until the last part the old file stays.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FileRefusal } from './file-refusal.ts';
import type { Written } from './files.ts';
import { partialOf } from './partial-name.ts';
import { type Roots, resolveInWorkspace } from './workspace-path.ts';

export type Part = { readonly path: string; readonly start: number; readonly total: number };
export type PartOutcome = { readonly received: number } | Written;

/** From the check of the length to the rename nothing is awaited: two parts at once come one after another. */
export const writePart = async (roots: Roots, part: Part, content: Buffer): Promise<PartOutcome> => {
  const place = await resolveInWorkspace(roots, part.path);
  await mkdir(dirname(place), { recursive: true });
  const old = lstatSync(place, { throwIfNoEntry: false });
  if (old !== undefined && !old.isFile()) {
    throw new FileRefusal('invalid_request', `${part.path} is not a file`);
  }
  const partial = partialOf(place);
  const received = append(partial, part, content);
  if (received < part.total) return { received };
  if (old !== undefined) chmodPlace(partial, old.mode & 0o777);
  renameSync(partial, place);
  return { isNew: old === undefined, size: received };
};

const append = (partial: string, { start }: Part, content: Buffer): number => {
  const descriptor = openPartial(partial, start === 0);
  try {
    const { size } = fstatSync(descriptor);
    if (size !== start) throw expected(size);
    for (let done = 0; done < content.length; ) {
      done += writeSync(descriptor, content, done, content.length - done, start + done);
    }
    return start + content.length;
  } finally {
    closeSync(descriptor);
  }
};

const openPartial = (partial: string, isFirst: boolean): number => {
  const fresh = isFirst ? constants.O_CREAT | constants.O_TRUNC : 0;
  try {
    return openSync(partial, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | fresh);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') throw expected(0);
    throw cause;
  }
};

const chmodPlace = (place: string, mode: number): void => {
  const descriptor = openSync(place, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    fchmodSync(descriptor, mode);
  } finally {
    closeSync(descriptor);
  }
};

const expected = (offset: number): FileRefusal =>
  new FileRefusal('conflict', `the next part must start at byte ${offset}`);
