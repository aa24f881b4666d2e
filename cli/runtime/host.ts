/** The machine as the program sees it, which a test can replace. */
import type { Readable, Writable } from 'node:stream';

export type Variables = Readonly<Record<string, string | undefined>>;

export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};
type InputStream = Readable & {
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
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Calls the listener at each Ctrl-C until the returned function is called. */
  readonly onInterrupt: (listener: () => void) => () => void;
  /**
   * Calls the listener when the program is to end with this exit code, until the returned function is called: at a signal, or since the
   * reader of the output has gone. Without a listener it ends at once.
   */
  readonly onEnd: (listener: (exitCode: number) => void) => () => void;
};
