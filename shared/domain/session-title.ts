/** The title of a session in a list: the first words of its first message, on one line. */

const charactersMax = 80;

/** Undefined when the text has no visible character. */
export const titleOf = (text: string): string | undefined => {
  const words = text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const characters = [...words];
  if (characters.length <= charactersMax) return words === '' ? undefined : words;
  return `${characters
    .slice(0, charactersMax - 1)
    .join('')
    .trimEnd()}…`;
};
