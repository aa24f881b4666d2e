/**
 * Lines of a child's output, for a log. A program writes a line in any number of pieces (bubblewrap: three), and a pipe
 * hands each over alone. Of a line that does not end, a part of 64 Ki characters is logged as a line.
 */
import type { Readable } from 'node:stream';

const lineCharactersMax = 65_536;

/** Logs the last line, too, before the child's `close`. Empty lines are left out. */
export const logLines = (output: Readable, log: (line: string) => void): void => {
  let rest = '';
  const logFilled = (line: string): void => {
    if (line.trim() !== '') log(line.trimEnd());
  };
  output.setEncoding('utf8').on('data', (piece: string) => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(logFilled);
    if (rest.length < lineCharactersMax) return;
    logFilled(rest);
    rest = '';
  });
  output.once('end', () => logFilled(rest));
};
