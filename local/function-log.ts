/**
 * What functions print, in a file of bounded size: the log group of the embedded cloud.
 *
 * When the file is full it becomes `<name>.1`, of which only one is kept.
 */
import { createWriteStream, openSync, renameSync, statSync, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

export type FunctionLog = { readonly write: (text: string) => void; readonly close: () => Promise<void> };

const fileBytesMaxDefault = 10 * 1024 * 1024;

export const openFunctionLog = (file: string, fileBytesMax = fileBytesMaxDefault): FunctionLog => {
  let stream = openStream(file);
  let bytes = statSync(file).size;
  const turnOver = (): void => {
    stream.end();
    renameSync(file, `${file}.1`);
    stream = openStream(file);
    bytes = 0;
  };
  return {
    write: (text) => {
      if (bytes > fileBytesMax) turnOver();
      bytes += Buffer.byteLength(text);
      stream.write(text);
    },
    close: async () => {
      stream.end();
      await finished(stream).catch(() => undefined);
    },
  };
};

/** Opened at once, so that there is a file to rename. A full disk must not stop the cloud: such a line is lost. */
const openStream = (file: string): WriteStream =>
  createWriteStream(file, { fd: openSync(file, 'a', 0o600) }).on('error', () => undefined);
