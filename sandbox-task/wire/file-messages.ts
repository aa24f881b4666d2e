/**
 * The messages about files that are more than one file's bytes: questions about entries, and *jobs*, which the server
 * pulls piece by piece.
 *
 * A job works only while it is asked for its next piece, and each piece comes within seconds: neither end holds more than
 * one, and a job that is not asked for does nothing.
 */

import type { ChangeKind } from '#shared/domain/file-change.ts';

/** `upload`: the id that its sender gave it; without one only its length tells it from another one of the same path. */
export type UploadName = {
  readonly path: string;
  readonly total: number;
  readonly upload?: string | undefined;
};

/** From byte `start` of what will have `total`. */
export type UploadPart = UploadName & { readonly start: number };

export type FileRequest =
  /** The answer is a list with one entry. */
  | { readonly type: 'stat'; readonly id: number; readonly path: string }
  | { readonly type: 'make-folder'; readonly id: number; readonly path: string }
  | {
      readonly type: 'move';
      readonly id: number;
      readonly path: string;
      readonly to: string;
      readonly overwrites: boolean;
    }
  /** The payload is the bytes of the part, of an archive for the folder. */
  | ({ readonly type: 'write-archive'; readonly id: number } & UploadPart)
  | JobRequest;

/** The answers to `job-next` are `piece`; the last one carries the outcome. */
export type JobRequest =
  | { readonly type: 'job-open'; readonly id: number; readonly job: string; readonly work: JobWork }
  | { readonly type: 'job-next'; readonly id: number; readonly job: string }
  | { readonly type: 'job-close'; readonly id: number; readonly job: string };

export type JobWork =
  /** Pieces are JSON lists of `TreeEntry`; the outcome is `TreeEnd`. */
  | { readonly kind: 'tree'; readonly path: string }
  /** Pieces are empty; the outcome is `WrittenTree`. */
  | { readonly kind: 'copy'; readonly path: string; readonly to: string; readonly overwrites: boolean }
  /** Pieces are a gzipped tar archive; the outcome is empty. */
  | { readonly kind: 'pack'; readonly path: string }
  /** Of the archive that was written for this folder. Pieces are empty; the outcome is `WrittenTree`. */
  | ({ readonly kind: 'unpack' } & UploadName)
  /** Pieces are JSON lists of `FileChange`, also empty ones; the outcome is empty. */
  | { readonly kind: 'watch'; readonly path: string };

export type TreeEnd = { readonly truncated: boolean };
export type WrittenTree = { readonly isNew: boolean; readonly files: number; readonly bytes: number };

/** The path is relative to the workspace. */
export type FileChange = { readonly path: string; readonly kind: ChangeKind };

/** The longest wait for a change before an empty list is sent, in milliseconds. */
export const watchPauseMs = 10_000;
