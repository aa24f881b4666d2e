/**
 * Lines of a child's output, for a log. A program may write one line in several pieces (bubblewrap: three), and a pipe delivers
 * each piece separately. If a line does not end, each 64 Ki characters of it are logged as one line.
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
