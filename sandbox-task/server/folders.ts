/**
 * Folders over HTTP: listed with everything below, made, moved, copied, sent and received as an archive, watched.
 *
 * Everything is streamed piece by piece; an answer that fails in its middle breaks off. An archive is received like a
 * file in parts, and unpacked with the last one. Outcomes are untrusted: the runner can be taken over.
 */

import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { onFirstUse } from '#shared/contracts/on-first-use.ts';
import { changeKinds } from '#shared/domain/file-change.ts';
import type { FileChange, JobWork } from '../wire/file-messages.ts';
import type { FileEntry } from '../wire/messages.ts';
import { type FileExchange, readPart, shownPath, type UploadExchange } from './files.ts';
import { endPaced, sendJson, writePaced } from './http-messages.ts';
import { Refusal } from './refusal.ts';
import { fileEntry, parseFileEntries } from './runner-message.ts';
import type { UploadAnswer } from './upload-memory.ts';
import { expectAnswer, type UserSide } from './user-side.ts';

export const sendEntry = async ({ userSide, response }: FileExchange, path: string): Promise<void> =>
  sendJson(response, { path: shownPath(path), ...(await statOf(userSide, path)) });

const statOf = async (userSide: UserSide, path: string): Promise<FileEntry> => {
  const answer = await userSide.ask({ type: 'stat', path });
  expectAnswer(answer, 'listed');
  const [entry] = parseFileEntries(answer.payload);
  if (entry === undefined) throw new Error('the runner described nothing');
  return entry;
};

/** `{"files": […], "truncated": true?}`, written as it comes. */
export const sendTree = async ({ userSide, response }: FileExchange, path: string): Promise<void> => {
  await using job = openJob(userSide, { kind: 'tree', path });
  const { steps } = job;
  let step = await steps.next();
  response.writeHead(200, { 'content-type': 'application/json' });
  let text = '{"files":[';
  for (let isFirst = true; !step.done; step = await steps.next()) {
    const entries = parseTreeEntries(step.value).map((entry) => JSON.stringify(entry));
    if (entries.length === 0) continue;
    text += `${isFirst ? '' : ','}${entries.join(',')}`;
    isFirst = false;
    await writePaced(response, Buffer.from(text));
    text = '';
  }
  const { truncated } = parseTreeEnd(step.value);
  await writePaced(response, Buffer.from(`${text}]${truncated ? ',"truncated":true' : ''}}`));
  await endPaced(response);
};

export const sendArchive = async ({ userSide, response }: FileExchange, path: string): Promise<void> => {
  await using job = openJob(userSide, { kind: 'pack', path });
  const { steps } = job;
  let step = await steps.next();
  response.writeHead(200, { 'content-type': 'application/gzip' });
  for (; !step.done; step = await steps.next()) await writePaced(response, step.value);
  await writePaced(response, step.value);
  await endPaced(response);
};

export const receiveArchive = async (
  { userSide, uploads, request, response }: UploadExchange,
  path: string,
): Promise<void> => {
  const { body, start, total, upload, isWhole } = await readPart(request);
  const shown = shownPath(path);
  // Two that come whole are not in each other's way.
  const name = { path, total, upload: isWhole ? randomUUID() : upload };
  const take = async (): Promise<UploadAnswer> => {
    const received = await userSide.ask({ type: 'write-archive', start, ...name }, body);
    const { bytes } = expectAnswer(received, 'received');
    if (bytes < total) return { status: 202, body: { received: bytes } };
    const { isNew, ...written } = parseWrittenTree(await finishJob(userSide, { kind: 'unpack', ...name }));
    return { status: isNew ? 201 : 200, body: { path: shown, ...written } };
  };
  const answer = await uploads.take({ kind: 'archive', path: shown, start, total, upload, body }, take);
  sendJson(response, answer.body, answer.status);
};

export type FolderChange = {
  readonly op: string;
  readonly path: string;
  readonly to: string;
  readonly overwrites: boolean;
};

export const changeFolder = async (
  { userSide, response }: FileExchange,
  { op, path, ...relocation }: FolderChange,
): Promise<void> => {
  switch (op) {
    case 'mkdir': {
      const { isNew } = expectAnswer(await userSide.ask({ type: 'make-folder', path }), 'written');
      const answer = { path: shownPath(path), ...(await statOf(userSide, path)) };
      return sendJson(response, answer, isNew ? 201 : 200);
    }
    case 'move':
      expectAnswer(await userSide.ask({ type: 'move', path, ...relocation }), 'written');
      break;
    case 'copy':
      parseWrittenTree(await finishJob(userSide, { kind: 'copy', path, ...relocation }));
      break;
    default:
      throw new Refusal('invalid_request', 'op is mkdir, move or copy');
  }
  const { to } = relocation;
  sendJson(response, { path: shownPath(to), ...(await movedEntry(userSide, to)) });
};

/** A link that was moved may lead nowhere from its new place. */
const movedEntry = async (userSide: UserSide, path: string): Promise<Partial<FileEntry>> => {
  try {
    return await statOf(userSide, path);
  } catch (cause) {
    if (cause instanceof Refusal) return {};
    throw cause;
  }
};

/** The longest watch, in milliseconds: a function that carries it may run for 15 minutes, and starts the sandbox before. */
const watchMsMax = 720_000;

export const watchFolder = async ({ userSide, response }: FileExchange, path: string): Promise<void> => {
  await using job = openJob(userSide, { kind: 'watch', path });
  const { steps } = job;
  const endsAt = performance.now() + watchMsMax;
  let step = await steps.next();
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  for (; !step.done && performance.now() < endsAt; step = await steps.next()) {
    const changes = parseChanges(step.value);
    const events = changes.map((change) => `event: changed\ndata: ${JSON.stringify(change)}\n\n`);
    // A comment shows every hop that the stream lives.
    const text = events.length === 0 ? ': nothing changed\n\n' : events.join('');
    await writePaced(response, Buffer.from(text));
  }
  await endPaced(response);
};

/** A job that is closed when its use ends, however that ends: the reader of an answer may be gone at any moment. */
const openJob = (userSide: UserSide, work: JobWork) => {
  const steps = pullJob(userSide, work);
  return {
    steps,
    [Symbol.asyncDispose]: async (): Promise<void> => void (await steps.return(Buffer.alloc(0))),
  };
};

/**
 * A job, pulled piece by piece from the runner that began it, and closed when the reader stops. Returns the last piece, which is the
 * outcome.
 */
async function* pullJob(userSide: UserSide, work: JobWork): AsyncGenerator<Buffer, Buffer> {
  const ask = await userSide.pin();
  const job = randomUUID();
  try {
    expectAnswer(await ask({ type: 'job-open', job, work }), 'done');
    for (;;) {
      const answer = await ask({ type: 'job-next', job });
      if (expectAnswer(answer, 'piece').isLast) return answer.payload;
      yield answer.payload;
    }
  } finally {
    // A runner that does not answer any more has nothing left to close.
    await ask({ type: 'job-close', job }).catch(() => undefined);
  }
}

/** The outcome of a job whose pieces are of no interest. */
const finishJob = async (userSide: UserSide, work: JobWork): Promise<Buffer> => {
  const steps = pullJob(userSide, work);
  for (;;) {
    const { value, done } = await steps.next();
    if (done) return value;
  }
};

const count = onFirstUse(() => z.number().int().nonnegative());
const writtenTree = onFirstUse(() => z.object({ isNew: z.boolean(), files: count(), bytes: count() }));
const treeEnd = onFirstUse(() => z.object({ truncated: z.boolean() }));
const pathText = onFirstUse(() => z.string().max(5000));
const treeEntries = onFirstUse(() => z.array(z.object({ path: pathText(), ...fileEntry().shape })));
const changes = onFirstUse(() => z.array(z.object({ path: pathText(), kind: z.enum(changeKinds) })));

const jsonOf = (payload: Buffer): unknown => JSON.parse(payload.toString());

const parseWrittenTree = (payload: Buffer): z.output<ReturnType<typeof writtenTree>> =>
  writtenTree().parse(jsonOf(payload));
const parseTreeEnd = (payload: Buffer): z.output<ReturnType<typeof treeEnd>> =>
  treeEnd().parse(jsonOf(payload));
const parseTreeEntries = (payload: Buffer): z.output<ReturnType<typeof treeEntries>> =>
  treeEntries().parse(jsonOf(payload));
const parseChanges = (payload: Buffer): readonly FileChange[] => changes().parse(jsonOf(payload));
