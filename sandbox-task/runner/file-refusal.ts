/** A file operation that is refused, in the words of the error table; whatever else the disk says becomes one too. */
import type { FileFailure } from '../wire/messages.ts';

export class FileRefusal extends Error {
  override readonly name = 'FileRefusal';
  readonly failure: FileFailure;

  constructor(failure: FileFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

const notFound = new Set(['ENOENT', 'ENOTDIR']);

/** The words of the disk without its paths: `EACCES: permission denied`. */
export const toFileRefusal = (cause: unknown, path: string): FileRefusal => {
  if (cause instanceof FileRefusal) return cause;
  const { code = 'EIO', message } = cause as NodeJS.ErrnoException;
  if (notFound.has(code)) return new FileRefusal('file_not_found', `no such file: ${path}`, { cause });
  return new FileRefusal('invalid_request', `${path}: ${message.split(',')[0]}`, { cause });
};
