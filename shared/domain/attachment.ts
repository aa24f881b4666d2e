/**
 * Files of the workspace that a message is about: images of the kinds that models take are shown, any other file is named.
 * History and log hold the reference; the bytes are read when a model is called.
 */
import type { ImageType } from './image-type.ts';

export type Attachment = {
  /** As the client gave it: relative to the workspace. */
  readonly path: string;
  /** Of an image, by its bytes when the message came. Absent: any other file. */
  readonly mimeType?: ImageType;
};

export const attachmentsPerMessageMax = 10;
export const attachmentPathCharactersMax = 4096;
/** Bytes of one image: the smallest limit of the providers is 5 MB of base64. */
export const attachedImageBytesMax = 3_500_000;
/** Bytes of all attached images in one request to a model, the newest first: as base64 they are 16 MB. */
export const attachedBytesPerRequestMax = 12_000_000;
/** The kind of a file follows from its first bytes. */
export const attachmentHeadBytes = 12;

type Image = { readonly mimeType: ImageType; readonly data: string };

/** An attachment as it was read for a model: the image in base64, or why there is none. */
export type ReadAttachment = Image | 'no-image' | 'missing' | 'too-large' | 'unread' | 'no-room';

/** The line that names an attachment to the model. */
export const attachmentLine = (path: string, read: ReadAttachment | undefined): string => {
  const name = JSON.stringify(path);
  if (read === undefined || read === 'no-image') return `[Attached file of the workspace: ${name}]`;
  const image = `[Attached image ${name}`;
  return typeof read === 'string' ? `${image}, not shown: ${reasons[read]}]` : `${image}]`;
};

const reasons: Readonly<Record<Exclude<ReadAttachment, Image | 'no-image'>, string>> = {
  missing: 'it is no longer in the workspace',
  'too-large': `it has more than ${attachedImageBytesMax} bytes`,
  unread: 'it could not be read',
  'no-room': 'newer images take the room',
};
