/** `Content-Range` of an upload in parts: `bytes a-b/total`, or a refusal that says what is wrong. Pure. */
import { workspaceBytesMax } from '#shared/domain/checkpoint.ts';
import { Refusal } from './refusal.ts';

export type UploadRange = { readonly start: number; readonly total: number };

export const parseContentRange = (header: string, bodyBytes: number): UploadRange => {
  const [, first, last, all] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(header) ?? [];
  if (all === undefined) throw invalid('must be "bytes <first>-<last>/<total>"');
  const start = Number(first);
  const end = Number(last) + 1;
  const total = Number(all);
  if (total > workspaceBytesMax)
    throw invalid(`names ${total} bytes; a file has at most ${workspaceBytesMax}`);
  if (end <= start || end > total) throw invalid('names no part of the file');
  if (end - start !== bodyBytes) throw invalid(`names ${end - start} bytes, the body has ${bodyBytes}`);
  return { start, total };
};

const invalid = (what: string): Refusal => new Refusal('invalid_request', `Content-Range ${what}`);
