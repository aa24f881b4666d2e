/**
 * Stack traces of bundled functions that name the sources, as Node's `--enable-source-maps` writes them. Its import turns this on.
 *
 * That flag reads and parses the map of every module that is loaded, also where no trace is ever written; here a map is read when a
 * trace goes through its module.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

Error.prepareStackTrace = (error, frames) => [titleOf(error), ...frames.map(describeFrame)].join('\n    at ');

const titleOf = (error: unknown): string => {
  try {
    return String(error);
  } catch {
    return 'Error';
  }
};

const describeFrame = (frame: NodeJS.CallSite): string => {
  const text = String(frame);
  const [position = '', url, line, column] = /(file:.*):(\d+):(\d+)/.exec(text) ?? [];
  const source = url && sourceOf(url, Number(line), Number(column));
  return source ? text.replace(position, () => source) : text;
};

/** Nothing for a module without a map. */
const sourceOf = (url: string, line: number, column: number): string | undefined => {
  const path = fileURLToPath(url);
  maps[path] ??= readMap(`${path}.map`);
  const origin = (maps[path] || undefined)?.findOrigin(line, column);
  return origin !== undefined && 'fileName' in origin
    ? `${resolve(path, '..', origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`
    : undefined;
};

const maps: Record<string, SourceMap | false> = {};

const readMap = (path: string): SourceMap | false => {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return false;
  }
};
