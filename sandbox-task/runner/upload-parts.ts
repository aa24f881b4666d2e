/**
 * The parts of an upload, put together with the rights of user code.
 *
 * They are appended to a hidden partial (upload-partials.ts). The last part of a file gives the partial its name; until then
 * the old file stays. The length of the partial says how much has arrived. A part that does not start there is refused with the
 * expected byte, unless it repeats the last part that arrived, whose sender may have missed the answer. The server remembers
 * the part that ended an upload.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { UploadPart } from '../wire/file-messages.ts';
import { type Written, writeAt } from './files.ts';
import { filePartialOf, makeRoomForUpload } from './upload-partials.ts';
import { FileRefusal, type Roots, resolveInWorkspace } from './workspace-path.ts';

type PartOutcome = { readonly received: number } | Written;

/** From the check of the length to the rename nothing is awaited: two parts at once come one after another. */
export const writePart = async (roots: Roots, part: UploadPart, content: Buffer): Promise<PartOutcome> => {
  const target = await resolveInWorkspace(roots, part.path);
  const partial = await filePartialOf(roots, target, part);
  await mkdir(dirname(target), { recursive: true });
  const old = lstatSync(target, { throwIfNoEntry: false });
  if (old !== undefined && !old.isFile()) {
    throw new FileRefusal('invalid_request', `${part.path} is not a file`);
  }
  const received = appendPart(partial, part, content);
  if (received < part.total) return { received };
  if (old !== undefined) chmodFile(partial, old.mode & 0o777);
  renameSync(partial, target);
  return { isNew: old === undefined, size: received };
};

/** The bytes that have arrived. */
export const appendPart = (
  partial: string,
  { start, total, upload }: UploadPart,
  content: Buffer,
): number => {
  if (start === 0 && upload !== undefined) makeRoomForUpload(partial, total);
  const descriptor = openPartial(partial, start === 0);
  try {
    const { size } = fstatSync(descriptor);
    if (endsWith(descriptor, size, { start, content })) return size;
    if (size !== start) throw expected(size);
    writeAt(descriptor, content, start);
    return start + content.length;
  } finally {
    closeSync(descriptor);
  }
};

type Placed = { readonly start: number; readonly content: Buffer };

/** True when a file of this size has the content there, at its end. */
const endsWith = (descriptor: number, size: number, { start, content }: Placed): boolean => {
  if (start === 0 || size !== start + content.length) return false;
  const there = Buffer.allocUnsafe(content.length);
  const read = readSync(descriptor, there, 0, there.length, start);
  return read === content.length && there.equals(content);
};

/** The partial, to read and to write; refused when an upload that has begun is not here. */
export const openPartial = (partial: string, isFirst: boolean): number => {
  const fresh = isFirst ? constants.O_CREAT | constants.O_TRUNC : 0;
  try {
    return openSync(partial, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK | fresh);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') throw expected(0);
    throw cause;
  }
};

const chmodFile = (target: string, mode: number): void => {
  const descriptor = openSync(target, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    fchmodSync(descriptor, mode);
  } finally {
    closeSync(descriptor);
  }
};

const expected = (offset: number): FileRefusal =>
  new FileRefusal('conflict', `the next part must start at byte ${offset}`);
