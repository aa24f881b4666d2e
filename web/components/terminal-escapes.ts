/**
 * Escape sequences of terminals, removed from text. Pure.
 *
 * Apart from the colours of terminal-text.ts, whose parser is not needed for a first load.
 */

export const esc = String.fromCharCode(27);
const bell = String.fromCharCode(7);
/** Titles and links: `ESC ] … BEL` or `ESC ] … ESC \`. */
const commands = new RegExp(`${esc}\\][^${bell}${esc}]*(?:${bell}|${esc}\\\\)?`, 'g');
/** Every other sequence except colours, which end in `m`. */
const movements = new RegExp(
  `${esc}(?:\\[[0-?]*[ -/]*[@-ln-~]|[PX^_][^${esc}]*(?:${esc}\\\\)?|[ -/]+[0-~]|[@-OQ-WYZ\\\\a-z0-9=>])`,
  'g',
);
const colours = new RegExp(`${esc}\\[[0-9;:]*m`, 'g');

export const withoutMovements = (output: string): string =>
  output.replace(commands, '').replace(movements, '');

/** Removes every escape sequence, colours too. */
export const withoutEscapes = (output: string): string => withoutMovements(output).replace(colours, '');
