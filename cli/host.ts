/** What the program needs of the machine, so that a test can stand in for it. */
import type { Readable, Writable } from 'node:stream';

export type Variables = Readonly<Record<string, string | undefined>>;

export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };
export type InputStream = Readable & {
  readonly isTTY?: boolean;
  readonly setRawMode?: (isRaw: boolean) => unknown;
};

export type Host = {
  readonly variables: Variables;
  readonly folder: string;
  readonly homeFolder: string;
  readonly platform: NodeJS.Platform;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Milliseconds of a clock that only grows. */
  readonly now: () => number;
  /** Calls back at each Ctrl-C until it is taken back. */
  readonly onInterrupt: (listener: () => void) => () => void;
};
