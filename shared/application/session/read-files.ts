/**
 * Files of a session's workspace, read through its sandbox, which is started when needed; a principal who may only read
 * starts none (browse-files.ts). Reads are bounded; the sandbox resolves paths, since only it can see its links.
 */

import { mayUse } from '../../domain/access.ts';
import type { Principal } from '../../domain/principal.ts';
import type { LiveSandbox } from '../../domain/sandbox.ts';
import type { Session } from '../../domain/session.ts';
import { AppError } from '../../errors.ts';
import type { LinkRequest } from '../../ports/sandbox.ts';
import type { FileDeps } from '../deps.ts';
import { acquireWithHeartbeat, type Opening } from '../sandbox/acquire-with-heartbeat.ts';
import { browseFiles, type FileWant, readAddressOf } from '../sandbox/browse-files.ts';
import { refusalOf } from '../sandbox/sandbox-server-error.ts';

export type FileRequest = {
  readonly session: Session;
  readonly principal: Principal;
  readonly path: string;
  readonly opening: Opening;
};

/** A file's bytes, the list of a folder, and the like, streamed; a refusal is thrown. */
export const fetchFiles = async (
  ports: FileDeps,
  options: FileRequest,
  want: FileWant,
): Promise<Response> => {
  const { session, principal, path, opening } = options;
  const wanted = { ...request(options), method: 'GET', path: readAddressOf(want, path) };
  if (mayUse(principal, 'own:write')) return ask(ports, await sandboxOf(ports, options), wanted);
  return orRefuse(await browseFiles(ports, session, { want, path, signal: opening.signal, request: wanted }));
};

export const readWorkspaceFile = async (
  ports: FileDeps,
  { bytesMax, ...options }: FileRequest & { readonly bytesMax: number },
): Promise<Uint8Array> => {
  return wholeOf(await fetchFiles(ports, options, 'file'), bytesMax);
};

/** No more is fetched than may be read: the file may grow in between. */
const wholeOf = async ({ body }: Response, bytesMax: number): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    size += piece.length;
    if (size > bytesMax)
      throw new AppError('payload_too_large', `the file has more than ${bytesMax} bytes`, {
        suggestions: ['Read a part of it with a command, or fetch it over the REST API.'],
      });
    pieces.push(piece);
  }
  return joined(pieces, size);
};

const joined = (pieces: readonly Uint8Array[], size: number): Uint8Array => {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
};

/** One folder, as the sandbox lists it: JSON that its caller parses. */
export const listWorkspaceFiles = async (ports: FileDeps, options: FileRequest): Promise<unknown> =>
  (await fetchFiles(ports, options, 'folder')).json();

const sandboxOf = async (ports: FileDeps, { session, opening }: FileRequest): Promise<LiveSandbox> =>
  (await acquireWithHeartbeat(ports, session, opening)).sandbox;

const request = ({ opening }: FileRequest) => ({
  signal: opening.signal,
});

const ask = async ({ link }: FileDeps, sandbox: LiveSandbox, wanted: LinkRequest): Promise<Response> =>
  orRefuse(await link.fetch(sandbox, wanted));

const orRefuse = async (response: Response): Promise<Response> => {
  if (!response.ok) throw await refusalOf(response, () => fileSuggestions);
  return response;
};

/** Of refusals of file routes, whatever their reason. */
export const fileSuggestions = {
  suggestions: ['Paths are relative to /workspace; GET …/files?path=&recursive=1 lists what is there.'],
};
