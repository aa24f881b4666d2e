/**
 * The memory of uploads: the last part of each, with its answer, so that a repeat gets the first answer. Those of one path that have
 * no id are one upload.
 *
 * The files cannot tell: a file with the same end may be an older one, and an archive is gone once it is unpacked. A part that is still
 * served is not begun again either: two unpackings would be in each other's way. A sandbox that takes the place of another remembers
 * nothing, so the repeat is refused there.
 */
import { createHash } from 'node:crypto';

type UploadPart = {
  readonly kind: 'file' | 'archive';
  readonly path: string;
  readonly start: number;
  readonly total: number;
  /** Its id, if it has one. */
  readonly upload?: string | undefined;
  readonly body: Buffer;
};
export type UploadAnswer = { readonly status: number; readonly body: object };

export type UploadMemory = {
  readonly take: (part: UploadPart, work: () => Promise<UploadAnswer>) => Promise<UploadAnswer>;
};

type Taken = { readonly part: string; readonly answer: Promise<UploadAnswer> };

/** A path and an answer have some kilobytes at most. */
const uploadsMax = 500;

export const createUploadMemory = (): UploadMemory => {
  // A Map keeps the order of insertion: its first entry is the oldest.
  const uploads = new Map<string, Taken>();
  const forget = (upload: string, taken: Taken): void => {
    if (uploads.get(upload) === taken) uploads.delete(upload);
  };
  return {
    async take({ kind, path, start, total, upload: id = '', body }, work) {
      const upload = `${kind} ${id} ${path}`;
      const isLast = start + body.length === total;
      // Another upload begins.
      if (start === 0 && !isLast) uploads.delete(upload);
      if (!isLast) return work();
      const part = `${start}/${total} ${createHash('sha256').update(body).digest('hex')}`;
      const known = uploads.get(upload);
      if (known?.part === part) return known.answer;
      const taken = { part, answer: work() };
      uploads.delete(upload);
      uploads.set(upload, taken);
      const [oldest = upload] = uploads.keys();
      if (uploads.size > uploadsMax) uploads.delete(oldest);
      // An upload in one part may be done again at any time, and a failed one starts again.
      taken.answer.then(
        () => start === 0 && forget(upload, taken),
        () => forget(upload, taken),
      );
      return taken.answer;
    },
  };
};
