/**
 * Client of a session's workspace files over the REST API: list, read, write whole or in parts, delete.
 *
 * The API has no versions: size and time of a file are compared before a write to detect concurrent changes.
 */
import { SallyportError } from '#sdk/errors.ts';
import type { FileEntry } from '#sdk/routes.ts';
import { send } from '../../api/request.ts';

/** The first response may wait for a cold start. */
const firstAnswerMs = 150_000;
/** Size of one request, and the step of the progress. */
const partBytesMax = 2 * 1024 * 1024;
export const uploadBytesMax = 2 * 1024 ** 3;

/** Size and time of a file when it was read. */
export type Version = Pick<FileEntry, 'size' | 'modifiedAt'>;

const addressOf = (sessionId: string, path: string): string =>
  `/api/sessions/${sessionId}/files/${path.split('/').map(encodeURIComponent).join('/')}`;

const signalOf = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });

/** `''` is the workspace root. Starts the sandbox when none runs. */
export const listFolder = async (
  sessionId: string,
  path: string,
  signal?: AbortSignal,
): Promise<readonly FileEntry[]> => {
  const query = new URLSearchParams({ path: path === '' ? '.' : path });
  const init = { timeoutMs: firstAnswerMs, ...signalOf(signal) };
  const response = await send(`/api/sessions/${sessionId}/files?${query}`, init);
  const { files } = (await response.json()) as { readonly files: readonly FileEntry[] };
  return files;
};

export const readFile = async (
  sessionId: string,
  path: string,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> => {
  const init = { timeoutMs: firstAnswerMs, ...signalOf(signal) };
  return new Uint8Array(await (await send(addressOf(sessionId, path), init)).arrayBuffer());
};

export const removeFile = async (sessionId: string, path: string): Promise<void> => {
  await send(addressOf(sessionId, path), { method: 'DELETE', timeoutMs: firstAnswerMs });
};

/** Undefined for a missing file. */
export const versionOf = async (sessionId: string, path: string): Promise<Version | undefined> => {
  const cut = path.lastIndexOf('/');
  try {
    const entries = await listFolder(sessionId, path.slice(0, Math.max(cut, 0)));
    return entries.find(({ name }) => name === path.slice(cut + 1));
  } catch (error) {
    if (error instanceof SallyportError && error.code === 'file_not_found') return undefined;
    throw error;
  }
};

/** Walks down from the root, so that a missing folder is never requested. */
export const isThere = async (sessionId: string, path: string): Promise<boolean> => {
  let folder = '';
  for (const name of path.split('/')) {
    const entries = await listFolder(sessionId, folder);
    if (!entries.some((entry) => entry.name === name)) return false;
    folder = folder === '' ? name : `${folder}/${name}`;
  }
  return true;
};

export const isSameVersion = (one: Version | undefined, other: Version | undefined): boolean =>
  one?.modifiedAt === other?.modifiedAt && one?.size === other?.size;

export type Upload = {
  readonly path: string;
  readonly content: Blob;
  readonly onProgress?: (sentBytes: number) => void;
  readonly signal?: AbortSignal;
};

export const writeFile = async (
  sessionId: string,
  { path, content, onProgress = () => {}, signal }: Upload,
): Promise<void> => {
  const put = (body: Blob, headers: Record<string, string> = {}) =>
    send(addressOf(sessionId, path), {
      method: 'PUT',
      body,
      headers: { 'content-type': 'application/octet-stream', ...headers },
      timeoutMs: firstAnswerMs,
      ...signalOf(signal),
    });
  if (content.size <= partBytesMax) {
    await put(content);
    return onProgress(content.size);
  }
  for (let from = 0; from < content.size; from += partBytesMax) {
    const to = Math.min(from + partBytesMax, content.size);
    await put(content.slice(from, to), { 'content-range': `bytes ${from}-${to - 1}/${content.size}` });
    onProgress(to);
  }
};

/** Downloads through the page, because a link cannot carry the token. */
export const downloadFile = async (sessionId: string, path: string): Promise<void> => {
  const url = URL.createObjectURL(new Blob([await readFile(sessionId, path)]));
  const link = document.createElement('a');
  link.href = url;
  link.download = path.slice(path.lastIndexOf('/') + 1);
  link.click();
  // The browser reads the object URL some time after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};
