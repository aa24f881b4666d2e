/**
 * Checks the attachments of a message before it is accepted: each is a file of the workspace, and an image is one that a model
 * can be shown. Reads a running sandbox or the saved state, and starts nothing.
 */

import { type Attachment, attachedImageBytesMax, attachmentHeadBytes } from '../../../domain/attachment.ts';
import type { MessageId } from '../../../domain/ids.ts';
import { imageTypeOfBytes } from '../../../domain/image-type.ts';
import type { Session } from '../../../domain/session.ts';
import { AppError, type ErrorCode } from '../../../errors.ts';
import type { Deps } from '../../deps.ts';
import { browseFiles, readAddressOf } from '../../sandbox/browse-files.ts';
import { refusalOf } from '../../sandbox/sandbox-server-error.ts';

type FileDeps = Deps<'workspaces' | 'link' | 'savedFiles'>;
type Message = {
  readonly messageId?: string | undefined;
  readonly attachments?: readonly { readonly path: string }[] | undefined;
};

/**
 * Throws `invalid_request` naming the path, or the refusal of a path outside the workspace. A message that was accepted before is
 * acknowledged again, and has no effect: its turn may have moved the files since.
 */
export const checkAttachments = async (
  ports: FileDeps & Deps<'inbox'>,
  session: Session,
  { messageId, attachments: given = [] }: Message,
): Promise<readonly Attachment[]> => {
  try {
    return await Promise.all(given.map(({ path }) => checkOne(ports, session, path)));
  } catch (error) {
    if (messageId !== undefined && (await ports.inbox.wasAccepted(session.id, messageId as MessageId)))
      return [];
    throw error;
  }
};

const checkOne = async (ports: FileDeps, session: Session, path: string): Promise<Attachment> => {
  const named = JSON.stringify(path);
  const ask = async (want: 'stat' | 'file'): Promise<Response> => {
    const request = { method: 'GET', path: readAddressOf(want, path) };
    const response = await browseFiles(ports, session, { want, path, request }).catch((error: unknown) => {
      throw notFound(error, named);
    });
    if (!response.ok) throw notFound(await refusalOf(response), named);
    return response;
  };
  const { type, size } = (await (await ask('stat')).json()) as { type: string; size: number };
  if (type !== 'file') throw refused(`attachments: ${named} is a ${type}, not a file`);
  const mimeType = imageTypeOfBytes(await headOf(await ask('file')));
  if (mimeType === undefined) return { path };
  if (size > attachedImageBytesMax)
    throw new AppError(
      'payload_too_large',
      `attachments: the image ${named} has ${size} bytes; an image has at most ${attachedImageBytesMax}`,
      { suggestions: ['Make it smaller, or name it in the text of the message.'] },
    );
  return { path, mimeType };
};

const headOf = async ({ body }: Response): Promise<Uint8Array> => {
  let head = new Uint8Array();
  for await (const piece of body ?? []) {
    head = new Uint8Array([...head, ...piece.subarray(0, attachmentHeadBytes - head.length)]);
    if (head.length >= attachmentHeadBytes) break;
  }
  return head;
};

const absent: readonly ErrorCode[] = ['file_not_found', 'not_found'];

/** A missing file is a fault of the request. */
const notFound = (error: unknown, named: string): unknown => {
  const isAbsent = error instanceof AppError && absent.includes(error.code);
  return isAbsent ? refused(`attachments: there is no file ${named} in the workspace`) : error;
};

const refused = (message: string): AppError =>
  new AppError('invalid_request', message, {
    suggestions: ['Upload the file with PUT …/files/{path} first; paths are relative to /workspace.'],
  });
