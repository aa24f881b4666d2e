/**
 * The stderr of an MCP server: line by line for the sandbox's log, and its tail for the message of a failure.
 *
 * The values of its environment are struck out, since they may be secrets and a log is read by many. It is sent in
 * batches, of which each has a bound; what is more is counted.
 */
import { createLineReader } from './message-lines.ts';

export type StdioLogger = {
  readonly push: (chunk: Buffer) => void;
  /** A line of ours. */
  readonly note: (text: string) => void;
  readonly stderrTail: () => string;
  /** A text of its own without the values of its environment. */
  readonly redact: (text: string) => string;
  /** Sends what waits. */
  readonly flush: () => void;
};

const batchMs = 200;
const batchCharactersMax = 16 * 1024;
const lineCharactersMax = 2000;
/** A secret is looked for in all of it before it is cut. */
export const logLineBytesMax = 64 * 1024;
const lastLinesMax = 10;
const lastCharactersMax = 2000;
/** Shorter values are words like `true` and `8080`, which are no secrets. */
const secretCharactersMin = 8;

export const createStdioLogger = (
  env: Readonly<Record<string, string>>,
  send: (text: string) => void,
): StdioLogger => {
  const redact = createHider(env);
  const last: string[] = [];
  let batch: string[] = [];
  let batchCharacters = 0;
  let leftOut = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const left = leftOut === 0 ? [] : [`[${leftOut} lines left out]`];
    if (batch.length + left.length > 0) send([...batch, ...left].join('\n'));
    batch = [];
    batchCharacters = 0;
    leftOut = 0;
  };
  const note = (text: string): void => {
    const line = redact(text).slice(0, lineCharactersMax);
    last.push(line);
    if (last.length > lastLinesMax) last.shift();
    if (batchCharacters + line.length > batchCharactersMax) leftOut += 1;
    else {
      batch.push(line);
      batchCharacters += line.length + 1;
    }
    timer ??= setTimeout(flush, batchMs).unref();
  };
  const reader = createLineReader({
    bytesMax: logLineBytesMax,
    onLine: (line) => note(line.toString()),
    onOverlong: () => note(`[a line over ${logLineBytesMax} bytes left out]`),
  });
  return {
    push: reader.push,
    note,
    stderrTail: () => last.join('\n').slice(-lastCharactersMax),
    redact,
    flush,
  };
};

/** A value of many lines shows line by line. The longest first: one may be part of another. */
const createHider = (env: Readonly<Record<string, string>>): ((text: string) => string) => {
  const secrets = Object.values(env)
    .flatMap((value) => [value, ...value.split('\n')])
    .filter((value) => value.length >= secretCharactersMin)
    .toSorted((one, other) => other.length - one.length);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text);
};
