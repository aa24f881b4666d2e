/**
 * Shows a model the files that messages are about: images as they are in the workspace now, with their bytes, and every file by
 * its path. Nothing of it is stored, and no file fails the call: the model is told what it does not see.
 */

import {
  type Attachment,
  attachedBytesPerRequestMax,
  attachedImageBytesMax,
  attachmentLine,
  type ReadAttachment,
} from '../../../domain/attachment.ts';
import type { HistoryImage, HistoryMessage } from '../../../domain/history.ts';
import { imageTypeOfBytes } from '../../../domain/image-type.ts';
import { imagesPerRequestMax } from '../../../domain/result-images.ts';
import type { Session } from '../../../domain/session.ts';
import { isAppError } from '../../../errors.ts';
import type { Deps } from '../../deps.ts';
import { browseFiles, readAddressOf } from '../../sandbox/browse-files.ts';
import { refusalOf } from '../../sandbox/sandbox-server-error.ts';

type ReadDeps = Deps<'workspaces' | 'link' | 'savedFiles' | 'telemetry'>;

type Showing = {
  readonly session: Session;
  /** By path: read once in a hold of the lease, so that the calls of a turn see the same. */
  readonly shown: Map<string, ReadAttachment>;
  readonly signal: AbortSignal;
};

export const showAttachments = async (
  ports: ReadDeps,
  history: readonly HistoryMessage[],
  showing: Showing,
): Promise<readonly HistoryMessage[]> => {
  const told: HistoryMessage[] = [];
  const left = { images: imagesPerRequestMax, bytes: attachedBytesPerRequestMax };
  // The newest first: they take the room.
  for (const message of history.toReversed()) {
    if (message.role !== 'user' || message.attachments === undefined) told.push(message);
    else told.push(await shownMessage(ports, message, { ...showing, left }));
  }
  return told.reverse();
};

type Room = { images: number; bytes: number };

const shownMessage = async (
  ports: ReadDeps,
  { attachments = [], ...message }: Extract<HistoryMessage, { role: 'user' }>,
  { left, ...showing }: Showing & { readonly left: Room },
): Promise<HistoryMessage> => {
  const images: HistoryImage[] = [];
  const lines: string[] = [];
  for (const attachment of attachments) {
    const read = withinRoom(await readOnce(ports, attachment, { ...showing, left }), left);
    if (typeof read === 'object') images.push(read);
    lines.push(attachmentLine(attachment.path, read));
  }
  const text = `${message.text}\n\n${lines.join('\n')}`;
  return { ...message, text, ...(images.length === 0 ? {} : { images }) };
};

const withinRoom = (read: ReadAttachment | undefined, left: Room): ReadAttachment | undefined => {
  if (typeof read !== 'object') return read;
  const bytes = Buffer.byteLength(read.data, 'base64');
  if (left.images === 0 || bytes > left.bytes) return 'no-room';
  left.images -= 1;
  left.bytes -= bytes;
  return read;
};

/** Undefined for a file that is only named. */
const readOnce = async (
  ports: ReadDeps,
  { path, mimeType }: Attachment,
  { session, shown, signal, left }: Showing & { readonly left: Room },
): Promise<ReadAttachment | undefined> => {
  if (mimeType === undefined) return undefined;
  const known = shown.get(path);
  if (known !== undefined) return known;
  if (left.images === 0 || left.bytes <= 0) return 'no-room';
  const read = await readImage(ports, { session, path, signal });
  signal.throwIfAborted();
  if (read !== 'unread') shown.set(path, read);
  return read;
};

type ImageAt = Pick<Showing, 'session' | 'signal'> & { readonly path: string };

const readImage = async (ports: ReadDeps, { session, path, signal }: ImageAt): Promise<ReadAttachment> => {
  try {
    const request = { method: 'GET', path: readAddressOf('file', path), signal };
    const response = await browseFiles(ports, session, { want: 'file', path, request, signal });
    if (!response.ok) throw await refusalOf(response);
    const bytes = await boundedBytes(response);
    if (bytes === undefined) return 'too-large';
    const mimeType = imageTypeOfBytes(bytes);
    return mimeType === undefined ? 'no-image' : { mimeType, data: bytes.toString('base64') };
  } catch (error) {
    if (isAppError(error) && (error.code === 'file_not_found' || error.code === 'invalid_request'))
      return 'missing';
    ports.telemetry.warn('an attachment was not read', { error });
    return 'unread';
  }
};

/** Undefined for more bytes than an image may have. */
const boundedBytes = async ({ body }: Response): Promise<Buffer | undefined> => {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    size += piece.length;
    if (size > attachedImageBytesMax) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
};
