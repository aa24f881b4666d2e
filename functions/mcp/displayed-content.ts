/**
 * The content that code displayed, beside the result: images, and texts about them.
 *
 * Untrusted: a block that is neither is dropped, and so is everything over the bounds which the sandbox enforces
 * itself.
 */
import * as z from 'zod';
import type { ToolContent } from '#shared/domain/event-log.ts';

const blocksMax = 9;
const contentCharactersMax = 6 * 1_048_576;

const block = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('image'),
    data: z.base64(),
    mimeType: z.string().regex(/^image\/[\w.+-]{1,100}$/),
  }),
  z.object({ type: z.literal('text'), text: z.string() }),
]);
export type DisplayedContent = z.output<typeof block>;

/** The first block is the result as text, which the result's own fields repeat. */
export const displayedContent = (content: readonly ToolContent[]): readonly DisplayedContent[] => {
  let characters = 0;
  return content.slice(1, 1 + blocksMax).flatMap((given) => {
    const parsed = block.safeParse(given);
    if (!parsed.success) return [];
    characters += parsed.data.type === 'image' ? parsed.data.data.length : parsed.data.text.length;
    return characters > contentCharactersMax ? [] : [parsed.data];
  });
};
