/** The thoughts of one answer as one text: they come in parts, with a blank line between two of them. */
import type { ModelChunk } from '#shared/domain/model.ts';

export type ThoughtsReader = (part: string | number, text: string) => readonly ModelChunk[];

export const readThoughts = (): ThoughtsReader => {
  let newest: string | number | undefined;
  return (part, text) => {
    if (text === '') return [];
    const gap = newest === undefined || newest === part ? '' : '\n\n';
    newest = part;
    return [{ type: 'reasoning', text: gap + text }];
  };
};
