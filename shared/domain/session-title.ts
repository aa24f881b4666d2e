/** What a session is called in a list: the first words that were said in it, on one line. */

const charactersMax = 80;

/** Undefined when nothing of the text can be seen. */
export const titleOf = (text: string): string | undefined => {
  const words = text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const characters = [...words];
  if (characters.length <= charactersMax) return words === '' ? undefined : words;
  return `${characters
    .slice(0, charactersMax - 1)
    .join('')
    .trimEnd()}…`;
};
