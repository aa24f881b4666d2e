/**
 * What a tool gave back, sorted by how it is shown: text, pictures, and anything else as its JSON. Pure.
 *
 * A picture is taken only in a format that has no scripts in it, and only when its bytes are what they say.
 */
import type { ToolContent } from '#shared/domain/event-log.ts';

export type ShownContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'picture'; readonly url: string };

const pictureTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

export const shownContent = (content: readonly ToolContent[]): readonly ShownContent[] =>
  content.map((block) => {
    const { type, text, data, mimeType } = block;
    if (type === 'text' && typeof text === 'string') return { kind: 'text', text };
    if (type === 'image' && isPicture(mimeType, data))
      return { kind: 'picture', url: `data:${mimeType};base64,${data}` };
    return { kind: 'text', text: JSON.stringify(block, null, 2) };
  });

const isPicture = (mimeType: unknown, data: unknown): boolean =>
  typeof mimeType === 'string' &&
  pictureTypes.has(mimeType) &&
  typeof data === 'string' &&
  data.length % 4 === 0 &&
  base64.test(data);
