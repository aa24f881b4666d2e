/**
 * Stack traces of bundled functions that name the sources, as Node's `--enable-source-maps` writes them. Its import turns this on.
 *
 * That flag reads and parses the map of every module that is loaded, also where no trace is ever written; here a map is read when a
 * trace goes through its module.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

type Position = { readonly url: string; readonly line: number; readonly column: number };

Error.prepareStackTrace = (error, frames) => {
  const lines = frames.map((frame) => `\n    at ${describeFrame(frame)}`);
  return `${titleOf(error)}${lines.join('')}`;
};

const titleOf = (error: unknown): string => {
  try {
    return String(error);
  } catch {
    return 'Error';
  }
};

const describeFrame = (frame: NodeJS.CallSite): string => {
  const text = String(frame);
  const [url, line, column] = [frame.getFileName(), frame.getLineNumber(), frame.getColumnNumber()];
  if (!url?.startsWith('file:') || line === null || column === null) return text;
  const source = sourceOf({ url, line, column });
  return source === undefined ? text : text.replace(`${url}:${line}:${column}`, source);
};

/** Nothing for a module without a map. */
const sourceOf = ({ url, line, column }: Position): string | undefined => {
  const path = fileURLToPath(url);
  const origin = mapOf(path)?.findOrigin(line, column);
  if (origin === undefined || !('fileName' in origin)) return undefined;
  return `${resolve(dirname(path), origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`;
};

const maps = new Map<string, SourceMap | undefined>();

const mapOf = (path: string): SourceMap | undefined => {
  if (!maps.has(path)) maps.set(path, readMap(`${path}.map`));
  return maps.get(path);
};

const readMap = (path: string): SourceMap | undefined => {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
};
