/**
 * One file as archive frames: its header, its content, and what really came.
 *
 * At most as many bytes are read as the header says, so a file that grows while it is read has an end; one
 * that shrinks is sent as it came. What vanished, or is no file any more, is marked as not whole.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { ArchiveHeader } from '#shared/contracts/archive.ts';
import { codeOf } from './workspace-walk.ts';

/** The payload is good until the next frame is asked for. */
export type Frame = { readonly header: ArchiveHeader; readonly payload?: Buffer };
export type FileHeader = Extract<ArchiveHeader, { type: 'file' }>;

/** So that a piece of several frames stays under 256 KB. */
export const contentBytesMax = 120 * 1024;
/** One buffer for all: a frame is copied on before the next one is asked for. */
const content = Buffer.allocUnsafeSlow(contentBytesMax);

export function* fileFrames(workspace: string, header: FileHeader): Generator<Frame> {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(
      join(workspace, header.path),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    if (fstatSync(descriptor).isFile()) yield* contentFrames(descriptor, header);
    else yield* nothing(header);
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'EACCES' || code === 'EPERM') yield { header: leftOut(header.path, code) };
    else yield* nothing(header);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function* contentFrames(descriptor: number, header: FileHeader): Generator<Frame> {
  yield { header };
  let size = 0;
  let isWhole = true;
  while (size < header.size) {
    const piece = readContent(descriptor, Math.min(contentBytesMax, header.size - size));
    isWhole = piece !== undefined;
    if (piece === undefined || piece.length === 0) break;
    size += piece.length;
    yield { header: { type: 'data' }, payload: piece };
  }
  yield { header: { type: 'file-end', size, isWhole } };
}

/** The next bytes, good until the next are read; nothing when the disk fails. */
export const readContent = (descriptor: number, bytesMax: number): Buffer | undefined => {
  try {
    return content.subarray(0, readSync(descriptor, content, 0, bytesMax, null));
  } catch {
    return undefined;
  }
};

function* nothing(header: FileHeader): Generator<Frame> {
  yield { header };
  yield { header: { type: 'file-end', size: 0, isWhole: false } };
}

const leftOut = (path: string, code: string): ArchiveHeader => ({
  type: 'left-out',
  path,
  reason: `it cannot be read: ${code}`,
});
