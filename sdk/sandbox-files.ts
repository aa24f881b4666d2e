/**
 * Files and folders of a sandbox's workspace. A path is relative to the workspace.
 *
 * A larger content than one request holds is sent in parts, each of which may be repeated. A folder goes as one archive (tar.gz), in and out.
 */
import type { ApiClient } from './api-client.ts';
import { SallyportError } from './errors.ts';
import {
  bytesOf,
  type ContentFormat,
  type ContentOf,
  type FileContent,
  readAs,
  sizeOf,
  sliceOf,
} from './file-content.ts';
import { type AnswerOf, type BodyOf, pathOf, queryOf, type Signalled } from './route.ts';
import { api, type FileEntry } from './routes.ts';
import { resumeEvents } from './server-events.ts';

/** The largest body of a request. */
const partBytesMax = 4 * 1_048_576;

export type ReadOptions<Format extends ContentFormat> = Signalled & { readonly format?: Format };
export type WriteOptions = Signalled & {
  /** The size of one request, at most 4 MB: the step of the progress. */
  readonly partBytes?: number;
  readonly onProgress?: (sentBytes: number, totalBytes: number) => void;
};
export type ListOptions = Signalled & {
  readonly recursive?: boolean;
  /** The folder has more entries than a list may have: 10,000, or 50,000 of a recursive one. */
  readonly onTruncated?: () => void;
};
export type RelocateOptions = Signalled & { readonly overwrite?: boolean };
/** Without them: reads the file, for an hour. */
export type LinkOptions = Signalled & Partial<Omit<BodyOf<typeof api.makeLink>, 'path'>>;
export type FileStat = {
  readonly path: string;
  readonly type: string;
  readonly size: number;
  readonly modifiedAt: string;
};
export type FileChange = { readonly path: string; readonly kind: 'created' | 'modified' | 'removed' };

export class SandboxFiles {
  readonly #client: ApiClient;
  readonly #sessionId: string;

  constructor(client: ApiClient, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
  }

  /** Reads a text, unless another format is asked for. A stream is not repeated once it has begun. */
  async read<Format extends ContentFormat = 'text'>(
    path: string,
    { format, signal }: ReadOptions<Format> = {},
  ): Promise<ContentOf[Format]> {
    return this.#read(path, { signal, format: format ?? ('text' as Format) });
  }

  /** Downloads a folder as an archive (tar.gz). */
  async download<Format extends ContentFormat = 'bytes'>(
    path: string,
    { format, signal }: ReadOptions<Format> = {},
  ): Promise<ContentOf[Format]> {
    return this.#read(path, { signal, format: format ?? ('bytes' as Format), query: { archive: 'tar.gz' } });
  }

  #read<Format extends ContentFormat>(
    path: string,
    { format, query, signal }: Signalled & { readonly format: Format; readonly query?: Query },
  ): Promise<ContentOf[Format]> {
    const options = { signal };
    const read = (response: Response) => readAs(response, format, options);
    return this.#client.exchange(this.#path(path, query), options, read);
  }

  async write(path: string, content: FileContent, options: WriteOptions = {}): Promise<void> {
    await this.#send(this.#path(path), content, options);
  }

  /** Unpacks an archive (tar.gz) into a folder. */
  async upload(path: string, archive: FileContent, options: WriteOptions = {}): Promise<void> {
    await this.#send(this.#path(path, { archive: 'tar.gz' }), archive, options);
  }

  async #send(
    address: string,
    content: FileContent,
    { signal, onProgress, partBytes = partBytesMax }: WriteOptions,
  ): Promise<void> {
    const body = bytesOf(content);
    const total = sizeOf(body);
    // Parts under one id never mix with those of another upload of the path.
    const id = total > partBytes && crypto.randomUUID();
    let from = 0;
    do {
      const to = Math.min(from + partBytes, total);
      const part = id && { 'content-range': `bytes ${from}-${to - 1}/${total}`, 'upload-id': id };
      await this.#client.send(address, {
        method: 'PUT',
        body: sliceOf(body, from, to),
        headers: { 'content-type': 'application/octet-stream', ...part },
        signal,
      });
      onProgress?.(to, total);
      from = to;
    } while (from < total);
  }

  async list(
    path = '.',
    { recursive = false, onTruncated, signal }: ListOptions = {},
  ): Promise<readonly FileEntry[]> {
    const query = { path, ...(recursive && { recursive: '1' as const }) };
    const parts = { params: { id: this.#sessionId }, query };
    const { files, truncated } = await this.#client.request(api.listFiles, parts, { signal });
    if (truncated) onTruncated?.();
    return files;
  }

  async mkdir(path: string, { signal }: Signalled = {}): Promise<void> {
    // A folder that exists stays as it is.
    await this.#client.send(this.#path(path, { op: 'mkdir' }), { method: 'POST', repeat: 'lost', signal });
  }

  /** Moves or renames. A file in its place is replaced with `overwrite` only, a folder never. */
  async move(path: string, to: string, options: RelocateOptions = {}): Promise<void> {
    await this.#change(path, { op: 'move', to }, options);
  }

  /** Copies under the rules of `move`. A link below a folder is copied as a link. */
  async copy(path: string, to: string, options: RelocateOptions = {}): Promise<void> {
    await this.#change(path, { op: 'copy', to }, options);
  }

  /** Makes an address that reads the file, or writes it once, without a token. */
  async link(path: string, { signal, ...wish }: LinkOptions = {}): Promise<AnswerOf<typeof api.makeLink>> {
    const body = { method: 'GET', expiresInSeconds: 3600, ...wish, path } as const;
    return this.#client.request(api.makeLink, { params: { id: this.#sessionId }, body }, { signal });
  }

  async #change(path: string, query: Query, { overwrite, signal }: RelocateOptions): Promise<void> {
    const address = this.#path(path, { ...query, ...(overwrite && { overwrite: '1' }) });
    await this.#client.send(address, { method: 'POST', repeat: 'refused', signal });
  }

  async remove(path: string, { signal }: Signalled = {}): Promise<void> {
    await this.#client.send(this.#path(path), { method: 'DELETE', signal });
  }

  /** True if a file or a folder has this path. */
  async exists(path: string, options: Signalled = {}): Promise<boolean> {
    try {
      await this.stat(path, options);
      return true;
    } catch (error) {
      if ((error as SallyportError).code === 'file_not_found') return false;
      throw error;
    }
  }

  async stat(path: string, { signal }: Signalled = {}): Promise<FileStat> {
    const asked = this.#client.fetch(this.#path(path), { method: 'HEAD', signal });
    const { headers } = await asked.catch((refused) => this.#explain(refused, path, signal));
    return {
      path,
      type: headers.get('x-sallyport-type') ?? 'file',
      // A gateway may write the length of the empty body over `content-length`.
      size: Number(headers.get('x-sallyport-size') ?? 0),
      modifiedAt: headers.get('x-sallyport-modified-at') ?? '',
    };
  }

  /** An answer to HEAD has no body: the list of the same path is refused for the same reason, and names it. */
  async #explain(refused: unknown, path: string, signal: AbortSignal | undefined): Promise<never> {
    if (!(refused instanceof SallyportError) || refused.code !== 'unexpected_answer') throw refused;
    const named = await this.list(path, { signal }).catch((error: unknown) => error);
    throw named instanceof SallyportError && named.status === refused.status ? named : refused;
  }

  /** Follows changes below a folder from now on. Those that happen while a lost connection is opened again are not seen. */
  async *watch(path = '.', { signal }: Signalled = {}): AsyncGenerator<FileChange, void> {
    const address = `${pathOf('/api/sessions/{id}/watch', { id: this.#sessionId })}${queryOf({ path })}`;
    const headers = { accept: 'text/event-stream' };
    const open = () => this.#client.fetch(address, { headers, signal });
    for await (const { event, data } of resumeEvents({ open, isOpen: () => true, signal }))
      if (event === 'changed') yield data as FileChange;
  }

  #path(path: string, query: Query = {}): string {
    const names = namesIn(path);
    const folder = pathOf('/api/sessions/{id}/files', { id: this.#sessionId });
    // The workspace itself has no name.
    if (names.join('') === '') return `${folder}${queryOf({ ...query, path: '.' })}`;
    return `${folder}/${names.map(encodeURIComponent).join('/')}${queryOf(query)}`;
  }
}

type Query = Readonly<Record<string, string>>;

const namesIn = (path: string): readonly string[] => {
  const relative = path.replace(/^\/workspace(\/|$)/, '');
  const names = relative.split('/');
  // A URL parser would resolve `..` to another address.
  if (!relative.startsWith('/') && !names.includes('..')) return names.filter((name) => name !== '.');
  throw new SallyportError(0, {
    code: 'path_outside_workspace',
    message: `${path} is not in the workspace`,
    suggestions: ['Give a path relative to /workspace, without `..`.'],
  });
};
