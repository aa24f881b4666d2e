/**
 * `read_file`, `write_file` and `list_files`: the files of a session's workspace; `get_volume_path`: the path of the folder
 * that all sandboxes share, if there is one.
 */

import { posix } from 'node:path';
import type { ContentBlock } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { findSession } from '#shared/application/access/find-session.ts';
import { writeWorkspaceFile } from '#shared/application/session/change-files.ts';
import {
  type FileRequest,
  listWorkspaceFiles,
  readWorkspaceFile,
} from '#shared/application/session/read-files.ts';
import { decodeStored } from '#shared/contracts/decode.ts';
import {
  getVolumePathArguments,
  getVolumePathResult,
  listFilesArguments,
  listFilesResult,
  readFileArguments,
  readFileResult,
  writeFileArguments,
  writeFileBytesMax,
  writeFileResult,
} from '#shared/contracts/tools/mcp-tools.ts';
import { readFileBytesMax } from '#shared/contracts/tools/sandbox-tools.ts';
import { AppError } from '#shared/errors.ts';
import { defineTool, type ToolContext } from '../define-tool.ts';

/** Without what a path may have and no listing shows: empty parts, `.`, `..` and a slash at its end. */
const plain = (path: string): string => posix.normalize(path).replace(/(?<=.)\/$/, '');

export const readFile = defineTool({
  name: 'read_file',
  description: `Reads a file of a session's workspace, at most ${readFileBytesMax} bytes. Text is returned as content; a binary file as an image or a base64 resource beside the result.`,
  needs: 'own:read',
  input: readFileArguments,
  output: readFileResult,
  annotations: { title: 'Read a file', readOnlyHint: true, openWorldHint: false },
  run: async (input, context) => {
    const options = await fileRequest(context, input);
    const bytes = await readWorkspaceFile(context.ports, { ...options, bytesMax: readFileBytesMax });
    const uri = `sallyport://sessions/${options.session.id}/files/${encodeURIComponent(input.path)}`;
    const content = fileContent(bytes, uri);
    const { mimeType } = content;
    const result = { path: plain(input.path), size: bytes.length, mime_type: mimeType };
    if ('text' in content) return { ...result, content: content.text };
    context.show(content.block);
    return result;
  },
});

export const writeFile = defineTool({
  name: 'write_file',
  description: `Writes a file of a session's workspace, at most ${writeFileBytesMax} bytes, as text or from base64. Missing folders are created; an existing file is replaced.`,
  needs: 'own:write',
  input: writeFileArguments,
  output: writeFileResult,
  annotations: {
    title: 'Write a file',
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false,
  },
  run: async ({ content, encoding, ...input }, context) => {
    const bytes = bytesOf(content, encoding);
    const options = await fileRequest(context, input);
    const { size, isNew } = await writeWorkspaceFile(context.ports, { ...options, bytes });
    const path = plain(input.path);
    return { path, size, created: isNew, message: `Successfully wrote to ${path}` };
  },
});

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const bytesOf = (content: string, encoding: 'utf-8' | 'base64'): Uint8Array => {
  if (encoding === 'base64' && !base64.test(content))
    throw new AppError('invalid_request', 'content: must be base64 with padding', {
      suggestions: ['Correct the arguments as the message says.'],
      recoveryActions: ['correct_arguments'],
    });
  const bytes = Buffer.from(content, encoding);
  if (bytes.length <= writeFileBytesMax) return bytes;
  throw new AppError(
    'payload_too_large',
    `the content has ${bytes.length} bytes; at most ${writeFileBytesMax} are written at once`,
    { suggestions: ['Send it in parts over the REST API.'] },
  );
};

/** A sandbox's answer is untrusted. */
const listed = z.object({
  files: z.array(z.object({ name: z.string(), type: z.string(), size: z.number(), modifiedAt: z.string() })),
  truncated: z.literal(true).optional(),
});

export const listFiles = defineTool({
  name: 'list_files',
  description: "Lists one folder of a session's workspace.",
  needs: 'own:read',
  input: listFilesArguments,
  output: listFilesResult,
  annotations: { title: 'List files', readOnlyHint: true, openWorldHint: false },
  run: async (input, context) => {
    const options = await fileRequest(context, input);
    const { files, truncated } = decodeStored(listed, await listWorkspaceFiles(context.ports, options));
    return {
      path: plain(input.path),
      files: files.map(({ modifiedAt, ...file }) => ({ ...file, modified_at: modifiedAt })),
      ...(truncated ? { truncated } : {}),
    };
  },
});

export const getVolumePath = defineTool({
  name: 'get_volume_path',
  description: 'Returns the path of the shared folder in a sandbox, and its availability in this deployment.',
  needs: 'own:read',
  input: getVolumePathArguments,
  output: getVolumePathResult,
  annotations: { title: 'Find the shared folder', readOnlyHint: true, openWorldHint: false },
  run: async ({ session_id: id }, { ports, principal, settings, intent }) => {
    if (id !== undefined) await findSession(ports.turns, { id, principal, intent });
    const { guestPath, isAvailable } = settings.volume;
    const description = isAvailable
      ? 'A folder that outlives sessions; in a sandbox its path is also in SHARED_VOLUME_PATH.'
      : 'This deployment has no shared folder: use /workspace, which belongs to the session.';
    return { volume_path: guestPath, description, available: isAvailable };
  },
});

/** The session and the path of a file tool's arguments, as the use cases take them. */
const fileRequest = async (
  { ports, principal, intent, settings, signal, onSession, onPhase }: ToolContext,
  { session_id: id, path }: { readonly session_id: string; readonly path: string },
): Promise<FileRequest> => {
  const { session } = await findSession(ports.turns, { id, principal, intent });
  onSession(session.id);
  const { lifetimes } = settings.defaults;
  return { session, principal, path, opening: { lifetimes, signal, onPhase } };
};

/**
 * A file as content for its reader, decided from the bytes, never from the name: text is valid UTF-8 without NUL; anything
 * else is base64 beside the result, an image as an image, the rest as a resource.
 */
type FileContent =
  | { readonly mimeType: 'text/plain'; readonly text: string }
  | { readonly mimeType: string; readonly block: ContentBlock };

/** The first bytes of the images that clients show. */
const pictures: readonly (readonly [mimeType: string, head: RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^474946383[79]61/],
  ['image/webp', /^52494646[0-9a-f]{8}57454250/],
];
const headBytes = 12;

export const fileContent = (bytes: Uint8Array, uri: string): FileContent => {
  const text = textOf(bytes);
  if (text !== undefined) return { mimeType: 'text/plain', text };
  const head = Buffer.from(bytes.subarray(0, headBytes)).toString('hex');
  const data = Buffer.from(bytes).toString('base64');
  const picture = pictures.find(([, wanted]) => wanted.test(head))?.[0];
  if (picture !== undefined) return { mimeType: picture, block: { type: 'image', data, mimeType: picture } };
  const mimeType = 'application/octet-stream';
  return { mimeType, block: { type: 'resource', resource: { uri, mimeType, blob: data } } };
};

const textOf = (bytes: Uint8Array): string | undefined => {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
};
