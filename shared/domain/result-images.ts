/**
 * The images of a tool's result that a model sees: of the kinds that models take, few and small enough to be stored in the
 * history. A provider refuses a conversation with an image that it cannot read, so the kind follows from the first bytes.
 */
import type { ToolContent } from './event-log.ts';
import type { HistoryImage } from './history.ts';
import { imageTypeOf } from './image-type.ts';

/** Images of one result. */
export const imagesPerResultMax = 4;
/** Base64 characters of all images of one result: with its text they fit into one item of the table (400 KB), compressed. */
export const imageCharactersMax = 320_000;
/** Images in one request to a model: with more, Anthropic takes no image over 2000 pixels. */
export const imagesPerRequestMax = 20;
/** The oldest are left out in groups, so that the prefix that a provider caches changes seldom. */
const imagesDroppedAtOnce = 10;

export type SeenImages = {
  readonly images: readonly HistoryImage[];
  /** A line for each image that the model does not see. */
  readonly notes: readonly string[];
};

export const imagesOf = (content: readonly ToolContent[]): SeenImages => {
  const images: HistoryImage[] = [];
  const notes: string[] = [];
  let characters = 0;
  for (const { type, data } of content) {
    if (type !== 'image' || typeof data !== 'string') continue;
    const mimeType = imageTypeOf(data);
    if (mimeType === undefined) notes.push('[An image is not shown: it is no PNG, JPEG, GIF or WebP.]');
    else if (images.length === imagesPerResultMax)
      notes.push(`[An image is not shown: at most ${imagesPerResultMax} of one result are.]`);
    else if (characters + data.length > imageCharactersMax)
      notes.push(
        `[An image of ${kilobytesOf(data.length)} KB is not shown: those of one result have at most ${kilobytesOf(imageCharactersMax)} KB.]`,
      );
    else {
      images.push({ mimeType, data });
      characters += data.length;
    }
  }
  return { images, notes };
};

const kilobytesOf = (characters: number): number => Math.floor((characters * 3) / 4 / 1024);

/** The number of a conversation's images that are left out, oldest first. */
export const imagesLeftOut = (count: number): number =>
  Math.max(0, Math.ceil((count - imagesPerRequestMax) / imagesDroppedAtOnce)) * imagesDroppedAtOnce;
