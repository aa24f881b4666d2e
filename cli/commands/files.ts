/**
 * `files`: the files of a session's workspace.
 *
 * A file over the size of one request is transferred in parts, with one part in memory. A download is written to a
 * temporary file beside its target, so that a failed one leaves no half file.
 */
import { createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { api } from '#sdk/routes.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import type { Call, Command } from '../runtime/command.ts';
import { makeStripper } from '../runtime/control-characters.ts';
import { failure } from '../runtime/failure.ts';
import { tableLines } from '../runtime/output.ts';

/** The maximum body of a request. */
const partBytes = 4 * 1_048_576;
const pipedBytesMax = 64 * 1_048_576;

type Source = {
  readonly bytes: number;
  readonly read: (from: number, to: number) => Promise<Uint8Array<ArrayBuffer>>;
};

const filePath = ([session = '', path = '']: readonly string[]): string => {
  const parts = path.replace(/^\/workspace\/|^\.?\/+/, '').split('/');
  // A URL parser would resolve it to another address.
  if (parts.includes('..'))
    throw failure('path_outside_workspace', `${path} contains ..: use a path relative to /workspace`);
  return `/api/sessions/${encodeURIComponent(session)}/files/${parts.map(encodeURIComponent).join('/')}`;
};

const ls = async (call: Call): Promise<undefined> => {
  const [id = '', path = '.'] = call.positionals;
  const { files } = await call.request(api.listFiles, { params: { id }, query: { path } });
  call.output.result({ files }, () =>
    files.length === 0
      ? []
      : tableLines(
          ['TYPE', 'SIZE', 'MODIFIED', 'NAME'],
          files.map(({ type, size, modifiedAt, name }) => [type, size, modifiedAt, name]),
        ),
  );
};

const get = async (call: Call): Promise<undefined> => {
  const [, path = '', local = '-'] = call.positionals;
  const response = await (await call.client()).fetch(filePath(call.positionals));
  const body = response.body ?? new ReadableStream<Uint8Array>({ start: (one) => one.close() });
  if (local === '-') return print(call, body);
  const target = await targetPath(resolve(call.host.folder, local), basename(path));
  const partial = `${target}.${process.pid}.part`;
  try {
    await pipeline(
      Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]),
      createWriteStream(partial),
    );
    await rename(partial, target);
  } catch (cause) {
    await rm(partial, { force: true });
    throw failure('download_failed', `${target} was not written: ${messageOf(cause)}`, { cause });
  }
  const { size } = await stat(target);
  call.output.result({ path: target, size }, () => [`${target}: ${size} bytes`]);
};

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

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
  const client = await call.client();
  const target = filePath(call.positionals);
  const bytes = await withSource(call, local, (source) => upload(client, target, { source, call }));
  call.output.result({ path, size: bytes }, () => [`${path}: ${bytes} bytes`]);
};

const withSource = async (
  { host }: Call,
  local: string,
  use: (source: Source) => Promise<number>,
): Promise<number> => {
  if (local === '-') return use(await pipedSource(host.stdin));
  const file = await open(resolve(host.folder, local)).catch((cause: NodeJS.ErrnoException) => {
    throw failure('file_not_found', `the local file ${local} cannot be read: ${cause.code}`, {
      cause,
      suggestions: ['Usage: sallyport files put <session> <path> [local]; the local file comes last.'],
    });
  });
  try {
    const found = await file.stat();
    if (!found.isFile()) throw failure('invalid_request', `${local} is not a file`);
    const read = async (from: number, to: number) => {
      const part = new Uint8Array(to - from);
      const { bytesRead } = await file.read(part, 0, part.length, from);
      if (bytesRead < part.length)
        throw failure('invalid_request', `${local} changed while it was being read`);
      return part;
    };
    return await use({ bytes: found.size, read });
  } finally {
    await file.close();
  }
};

const pipedSource = async (stdin: AsyncIterable<Uint8Array>): Promise<Source> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes > pipedBytesMax)
      throw failure('payload_too_large', `stdin exceeds ${pipedBytesMax} bytes; write it to a file first`);
  }
  const whole = Uint8Array.from(Buffer.concat(chunks));
  return { bytes, read: async (from, to) => whole.slice(from, to) };
};

const upload = async (
  client: Sallyport,
  target: string,
  { source, call }: { readonly source: Source; readonly call: Call },
): Promise<number> => {
  const { bytes, read } = source;
  if (bytes <= partBytes) {
    await client.fetch(target, { method: 'PUT', body: await read(0, bytes) });
    return bytes;
  }
  for (let from = 0; from < bytes; from += partBytes) {
    const to = Math.min(from + partBytes, bytes);
    const headers = { 'content-range': `bytes ${from}-${to - 1}/${bytes}` };
    await client.fetch(target, { method: 'PUT', headers, body: await read(from, to) });
    printProgress(call, to, bytes);
  }
  return bytes;
};

const printProgress = ({ host: { stderr } }: Call, done: number, bytes: number): void => {
  if (stderr.isTTY !== true) return;
  const megabytes = (count: number): string => (count / 1_048_576).toFixed(1);
  const end = done === bytes ? '\n' : '';
  stderr.write(
    `\r${megabytes(done)} of ${megabytes(bytes)} MB (${Math.floor((done / bytes) * 100)} %)${end}`,
  );
};

const rmFile = async (call: Call): Promise<undefined> => {
  const [, path = ''] = call.positionals;
  await (await call.client()).fetch(filePath(call.positionals), { method: 'DELETE' });
  call.output.result({ path, removed: true }, () => [`Deleted ${path}.`]);
};

export const fileCommands: readonly Command[] = [
  {
    name: 'files ls',
    usage: '<session> [path]',
    summary: 'List the files of a session',
    positionals: { min: 1, max: 2 },
    run: ls,
  },
  {
    name: 'files get',
    usage: '<session> <path> [local]',
    summary: 'Download a file from a session, to stdout without a local path',
    positionals: { min: 2, max: 3 },
    run: get,
  },
  {
    name: 'files put',
    usage: '<session> <path> [local]',
    summary: 'Upload a local file (- is stdin) to a session',
    details: ['Without a local path, the file of the same name in the current folder is uploaded.'],
    positionals: { min: 2, max: 3 },
    run: put,
  },
  {
    name: 'files rm',
    usage: '<session> <path>',
    summary: 'Delete a file of a session',
    positionals: { min: 2, max: 2 },
    run: rmFile,
  },
];
