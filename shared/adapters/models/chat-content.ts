/**
 * The content of a chat chunk: a text, or parts of which some are thoughts (https://docs.mistral.ai/capabilities/reasoning). Nothing of it
 * is checked by the SDK, whose type knows the text alone.
 */
type ChatContent = { readonly text: string; readonly thoughts: string };

export const readContent = (content: unknown): ChatContent =>
  typeof content === 'string'
    ? { text: content, thoughts: '' }
    : { text: textsIn(content, 'text'), thoughts: textsIn(content, 'thinking') };

/** Texts of parts of one type; those of a thought are in parts of their own. Other parts say nothing. */
const textsIn = (parts: unknown, type: 'text' | 'thinking'): string =>
  (Array.isArray(parts) ? parts : [])
    .filter((part) => typeof part === 'object' && part !== null && Reflect.get(part, 'type') === type)
    .map((part): string => {
      const held: unknown = Reflect.get(part, type);
      return typeof held === 'string' ? held : textsIn(held, 'text');
    })
    .join('');
