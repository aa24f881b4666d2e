/**
 * `files`: the files of a session's workspace.
 *
 * A file over the size of one request is transferred in parts, with one part in memory.
 */
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { api } from '#sdk/routes.ts';
import { type Call, type Command, flag, oneSession, sessionAndPath } from '../runtime/command.ts';
import { makeStripper } from '../runtime/control-characters.ts';
import { failure, unreadable } from '../runtime/failure.ts';
import { tableLines } from '../runtime/output.ts';
import { saveStream } from '../runtime/save-stream.ts';
import { filesOf, folderCommands, getFolder, withArchive } from './folders.ts';

const pipedBytesMax = 64 * 1_048_576;

const ls = async (call: Call): Promise<undefined> => {
  const [id = '', path = '.'] = call.positionals;
  const recursive = call.isSet('recursive') ? ({ recursive: '1' } as const) : {};
  const { files, truncated } = await call.request(api.listFiles, {
    params: { id },
    query: { path, ...recursive },
  });
  if (files.length === 0 && !call.output.isJson) call.output.note('No files.');
  if (truncated) call.output.note(cutNote(call, files.length));
  call.output.result({ files, ...(truncated ? { truncated } : {}) }, () =>
    files.length === 0
      ? []
      : tableLines(
          ['TYPE', 'SIZE', 'MODIFIED', 'NAME'],
          files.map(({ type, size, modifiedAt, name, path: below }) => [
            type,
            size,
            modifiedAt,
            call.isSet('recursive') ? below : name,
          ]),
        ),
  );
};

/** A tree can be listed in parts; a folder with too many names has none, and is looked through on this machine. */
const cutNote = (call: Call, count: number): string =>
  call.isSet('recursive')
    ? `Only the first ${count} entries are shown: list a folder below it.`
    : `Only the first ${count} entries are shown: \`sallyport files get -r\` downloads the whole folder.`;

const get = async (call: Call): Promise<undefined> => {
  if (call.isSet('recursive')) return getFolder(call);
  const [, path = '', local = '-'] = call.positionals;
  const body = await (await filesOf(call)).read(path, { format: 'stream' });
  if (local === '-') return print(call, body);
  const target = await targetPath(resolve(call.host.folder, local), basename(path));
  await saveStream(call.host, body, target);
  const { size } = await stat(target);
  call.output.result({ path: target, size }, () => [`${target}: ${size} bytes`]);
};

const targetPath = async (local: string, name: string): Promise<string> => {
  const found = await stat(local).catch(() => undefined);
  return found?.isDirectory() ? join(local, name) : local;
};

/** Unchanged into a pipe; on a terminal as text without control sequences. */
const print = async ({ host, output }: Call, body: ReadableStream<Uint8Array>): Promise<undefined> => {
  const decoder = new TextDecoder();
  const strip = makeStripper();
  for await (const chunk of body)
    await output.raw(host.stdout.isTTY === true ? strip(decoder.decode(chunk, { stream: true })) : chunk);
};

const put = async (call: Call): Promise<undefined> => {
  const [, path = '', local = basename(call.positionals[1] ?? '')] = call.positionals;
  const files = await filesOf(call);
  const folder = local === '-' ? undefined : await localFolder(resolve(call.host.folder, local));
  const onProgress = (done: number, bytes: number): void => printProgress(call, done, bytes);
  const bytes =
    folder === undefined
      ? await sent(await contentOf(call, local), (content) => files.write(path, content, { onProgress }))
      : await withArchive(call.host, folder, async (archive, signal) =>
          sent(await openAsBlob(archive), (content) => files.upload(path, content, { onProgress, signal })),
        );
  call.output.result({ path, size: bytes }, () => [`${path}: ${bytes} bytes`]);
};

const localFolder = async (path: string): Promise<string | undefined> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ? path : undefined;

/** A file is read part by part as it is sent; one that changes concurrently cannot be read on. */
const contentOf = async ({ host }: Call, local: string): Promise<Blob> => {
  if (local === '-') return pipedContent(host.stdin);
  const path = resolve(host.folder, local);
  const usage = 'Usage: sallyport files put <session> <path> [local]; the local file comes last.';
  const found = await stat(path).catch(unreadable(local, [usage]));
  if (!found.isFile()) throw failure('invalid_request', `${local} is not a file`);
  return openAsBlob(path);
};

const sent = async (content: Blob, send: (content: Blob) => Promise<void>): Promise<number> => {
  try {
    await send(content);
  } catch (cause) {
    if (!isUnreadable(cause)) throw cause;
    throw failure('invalid_request', 'the local file changed while it was being read', { cause });
  }
  return content.size;
};

/** The error of a Blob whose file has changed (https://nodejs.org/api/fs.html#fsopenasblobpath-options). */
const isUnreadable = (cause: unknown): boolean =>
  cause instanceof Error && (cause.name === 'NotReadableError' || isUnreadable(cause.cause));

const pipedContent = async (stdin: AsyncIterable<Uint8Array>): Promise<Blob> => {
  const chunks: Buffer<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes > pipedBytesMax)
      throw failure('payload_too_large', `stdin exceeds ${pipedBytesMax} bytes; write it to a file first`);
  }
  return new Blob(chunks);
};

const printProgress = ({ host: { stderr } }: Call, done: number, bytes: number): void => {
  if (stderr.isTTY !== true) return;
  const megabytes = (count: number): string => (count / 1_048_576).toFixed(1);
  const end = done === bytes ? '\n' : '';
  stderr.write(
    `\r${megabytes(done)} of ${megabytes(bytes)} MB (${bytes === 0 ? 100 : Math.floor((done / bytes) * 100)} %)${end}`,
  );
};

const rmFile = async (call: Call): Promise<undefined> => {
  const [, path = ''] = call.positionals;
  await (await filesOf(call)).remove(path);
  call.output.result({ path, removed: true }, () => [`Deleted ${path}.`]);
};

export const fileCommands: readonly Command[] = [
  {
    name: 'files ls',
    usage: '<session> [path] [-R]',
    summary: 'List the files of a session; with -R, everything below a folder',
    options: { recursive: { ...flag, short: 'R' } },
    positionals: { ...oneSession, max: 2 },
    run: ls,
  },
  {
    name: 'files get',
    usage: '<session> <path> [local] [-r]',
    summary: 'Download a file from a session; to stdout if there is no local path',
    details: ['With -r the path is a folder, which is unpacked into a local one of the same name.'],
    options: { recursive: { ...flag, short: 'r' } },
    positionals: { ...sessionAndPath, max: 3 },
    run: get,
  },
  {
    name: 'files put',
    usage: '<session> <path> [local]',
    summary: 'Upload a local file (- is stdin) or folder to a session',
    details: ['Without a local path, the file or folder of the same name in the current folder is uploaded.'],
    positionals: { ...sessionAndPath, max: 3 },
    run: put,
  },
  {
    name: 'files rm',
    usage: '<session> <path>',
    summary: 'Delete a file or folder of a session',
    positionals: sessionAndPath,
    run: rmFile,
  },
  ...folderCommands,
];
