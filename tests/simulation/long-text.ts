/** Long texts: of any length up to one over the platform's limits, which no compression makes much shorter. */
import { openRandom, type Random } from './random.ts';

const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const sourceCharacters = 2 * 1_048_576;
let source: string | undefined;

const filled = (): string => {
  const random = openRandom(1);
  const bytes = Buffer.alloc(sourceCharacters);
  for (let at = 0; at < sourceCharacters; at += 1)
    bytes[at] = characters.charCodeAt(Math.floor(random.next() * characters.length));
  return bytes.toString('latin1');
};

const lengthMin = 1000;

/** Some are of characters that JSON writes in six bytes, or UTF-8 in three. */
export const longText = (random: Random, bytesMax: number): string => {
  source ??= filled();
  const length = Math.min(sourceCharacters / 2, random.spread(lengthMin, bytesMax));
  const from = random.int(0, sourceCharacters - length);
  const text = source.slice(from, from + length);
  if (random.chance(0.1)) return text.slice(0, length / 3).replaceAll('A', '\u0001');
  return random.chance(0.1) ? text.slice(0, length / 3).replaceAll(/[A-Z]/g, '語') : text;
};
