/**
 * Content of a tool result by its rendering: text, pictures, and JSON for anything else. Pure.
 *
 * A picture is shown only in a format without scripts, and only when it is valid base64.
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
