/**
 * Files of the user over HTTP and for the tools: each operation is one request to the runner, and its answer is parsed.
 *
 * A piece is fetched from the runner when the previous one is sent, so a large file costs one piece of memory. The
 * response breaks off when a file is replaced or written while it is read: its pieces would be of two contents. One that only grows, as a
 * log does, is sent as long as it was.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { posix } from 'node:path';
import * as z from 'zod';
import { onFirstUse } from '#shared/contracts/on-first-use.ts';
import { workspaceBytesMax } from '#shared/domain/checkpoint.ts';
import type { UploadPart } from '../wire/file-messages.ts';
import type { FileEntry, FileState } from '../wire/messages.ts';
import { namedPath } from '../wire/named-path.ts';
import { endPaced, readBody, sendJson, writePaced } from './http-messages.ts';
import { Refusal } from './refusal.ts';
import { parseFileEntries } from './runner-message.ts';
import type { UploadAnswer, UploadMemory } from './upload-memory.ts';
import { expectAnswer, type UserSide } from './user-side.ts';

const pieceBytesMax = 256 * 1024;
/** The body of one request; a larger file comes in parts. */
const bodyBytesMax = 4 * 1_048_576;

export type FileExchange = {
  readonly userSide: UserSide;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
};

/** The path that an answer names: the workspace itself is `.`. */
export const shownPath = (path: string): string => namedPath('/workspace', path) || '.';

export const listFiles = async ({ userSide, response }: FileExchange, path: string): Promise<void> => {
  const folder = shownPath(path);
  const { entries, isCut } = await listFolder(userSide, path);
  sendJson(response, {
    files: entries.map((entry) => ({ ...entry, path: posix.join(folder, entry.name) })),
    ...(isCut ? { truncated: true } : {}),
  });
};

export const sendFile = async ({ userSide, response }: FileExchange, path: string): Promise<void> => {
  const first = await readChunk(userSide, path, { offset: 0, bytesMax: pieceBytesMax });
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': first.size,
    'x-sallyport-modified-at': first.modifiedAt,
  });
  let piece = first;
  let sent = 0;
  for (;;) {
    sent += piece.bytes.length;
    await writePaced(response, piece.bytes);
    if (sent >= first.size) break;
    const range = { offset: sent, bytesMax: Math.min(pieceBytesMax, first.size - sent) };
    const next = await readChunk(userSide, path, range);
    const isWhole = next.bytes.length > 0 && (await continues(next, piece, { userSide, path, offset: sent }));
    if (!isWhole) throw new Refusal('internal_error', `${path} changed while it was read`);
    piece = next;
  }
  await endPaced(response);
};

type Place = { readonly userSide: UserSide; readonly path: string; readonly offset: number };

/** True when nothing was written since the last piece, or behind it: that one is still there. */
const continues = async (
  next: FileChunk,
  last: FileChunk,
  { userSide, path, offset }: Place,
): Promise<boolean> => {
  if (next.file !== last.file) return false;
  if (next.writtenAt === last.writtenAt) return true;
  if (next.size <= last.size) return false;
  const { length } = last.bytes;
  const again = await readChunk(userSide, path, { offset: offset - length, bytesMax: length });
  return again.bytes.equals(last.bytes);
};

export type UploadExchange = FileExchange & { readonly uploads: UploadMemory };

export const receiveFile = async (
  { userSide, uploads, request, response }: UploadExchange,
  path: string,
): Promise<void> => {
  const part = await readPart(request);
  const { body, start, total, upload, isWhole } = part;
  const shown = shownPath(path);
  const answerOf = (written: Written): UploadAnswer => ({
    status: written.isNew ? 201 : 200,
    body: { path: shown, size: written.size },
  });
  const take = async (): Promise<UploadAnswer> => {
    const written = await writePart(userSide, { path, start, total, upload }, body);
    return 'received' in written ? { status: 202, body: written } : answerOf(written);
  };
  const answer = isWhole
    ? answerOf(await writeFile(userSide, path, body))
    : await uploads.take({ kind: 'file', path: shown, ...part }, take);
  sendJson(response, answer.body, answer.status);
};

export const deleteFile = async ({ userSide, response }: FileExchange, path: string): Promise<void> => {
  await removePath(userSide, path);
  response.writeHead(204).end();
};

type ReceivedPart = UploadRange & {
  readonly body: Buffer;
  readonly upload: string | undefined;
  readonly isWhole: boolean;
};

/** One body, and its place in what is uploaded. */
export const readPart = async (request: IncomingMessage): Promise<ReceivedPart> => {
  const body = await readBody(request, bodyBytesMax);
  const header = request.headers['content-range'];
  if (header === undefined) return { body, start: 0, total: body.length, upload: undefined, isWhole: true };
  const upload = uploadId().safeParse(request.headers['upload-id']);
  if (!upload.success) throw new Refusal('invalid_request', 'Upload-Id must be a UUID');
  return { body, ...parseContentRange(header, body.length), upload: upload.data, isWhole: false };
};

const uploadId = onFirstUse(() => z.uuid().optional());

type UploadRange = { readonly start: number; readonly total: number };

const parseContentRange = (header: string, bodyBytes: number): UploadRange => {
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

type FileChunk = FileState & { readonly bytes: Buffer; readonly modifiedAt: string };
type ReadRange = { readonly offset: number; readonly bytesMax: number };
type Written = { readonly isNew: boolean; readonly size: number };
export const readChunk = async (userSide: UserSide, path: string, range: ReadRange): Promise<FileChunk> => {
  const answer = await userSide.ask({ type: 'read', path, ...range });
  const { modifiedAt, file, size, writtenAt } = expectAnswer(answer, 'chunk');
  return { bytes: answer.payload, modifiedAt, file, size, writtenAt };
};

export const writeFile = async (userSide: UserSide, path: string, content: Buffer): Promise<Written> =>
  expectAnswer(await userSide.ask({ type: 'write', path }, content), 'written');

const writePart = async (
  userSide: UserSide,
  part: UploadPart,
  content: Buffer,
): Promise<Written | { readonly received: number }> => {
  const answer = await userSide.ask({ type: 'write-part', ...part }, content);
  if (answer.message.type === 'received') return { received: answer.message.bytes };
  return expectAnswer(answer, 'written');
};

/** A large folder takes several steps. */
const removePath = async (userSide: UserSide, path: string): Promise<void> => {
  for (;;) {
    const answer = await userSide.ask({ type: 'remove', path });
    if (answer.message.type === 'done') return;
    expectAnswer(answer, 'piece');
  }
};

type FolderList = { readonly entries: readonly FileEntry[]; readonly isCut: boolean };

export const listFolder = async (userSide: UserSide, path: string): Promise<FolderList> => {
  const answer = await userSide.ask({ type: 'list', path });
  const { isCut } = expectAnswer(answer, 'listed');
  return { entries: parseFileEntries(answer.payload), isCut };
};
