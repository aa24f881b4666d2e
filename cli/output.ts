/**
 * What the program says: results on stdout, everything about them on stderr.
 *
 * Under `--json` stdout holds JSON alone. Colours only for a terminal, and never with NO_COLOR. Text of others
 * goes through `line`, `note` or `text`, which take terminal controls out; `raw` is for bytes a person asked for.
 */
import { once } from 'node:events';
import { stripControls, toJson } from './control-characters.ts';
import { describeFailure, type ErrorBody } from './failure.ts';
import type { Host, OutputStream } from './host.ts';

type Style = (text: string) => string;

export type Output = {
  readonly isJson: boolean;
  /** Result of a command: the value under `--json`, else the lines. */
  readonly result: (value: unknown, lines: () => readonly string[]) => void;
  readonly line: (text: string) => void;
  readonly note: (text: string) => void;
  /** Text without a line end. */
  readonly text: (text: string, stream?: 'stdout' | 'stderr') => void;
  readonly raw: (chunk: string | Uint8Array, stream?: 'stdout' | 'stderr') => Promise<void>;
  readonly failure: (body: ErrorBody) => void;
  readonly bold: Style;
  readonly dim: Style;
};

const introducer = '\x1b[';
const plain: Style = (text) => text;
const styled =
  (on: number, off: number): Style =>
  (text) =>
    `${introducer}${on}m${text}${introducer}${off}m`;

export const makeOutput = ({ stdout, stderr, variables }: Host, isJson: boolean): Output => {
  const isColoured = stdout.isTTY === true && !variables['NO_COLOR'] && variables['TERM'] !== 'dumb';
  const write = (stream: OutputStream, text: string): void => void stream.write(text);
  const line = (text: string): void => write(stdout, `${text}\n`);
  return {
    isJson,
    result: (value, lines) => {
      if (isJson) line(toJson(value, 2));
      else for (const one of lines()) line(one);
    },
    line: (text) => line(stripControls(text)),
    note: (text) => write(stderr, `${stripControls(text)}\n`),
    text: (text, name = 'stdout') => write(name === 'stdout' ? stdout : stderr, text),
    raw: async (chunk, name = 'stdout') => {
      const stream = name === 'stdout' ? stdout : stderr;
      if (!stream.write(chunk)) await once(stream, 'drain');
    },
    failure: (body) => {
      const lines = isJson ? [toJson(body, 2)] : describeFailure(body);
      write(stderr, `${lines.join('\n')}\n`);
    },
    bold: isColoured ? styled(1, 22) : plain,
    dim: isColoured ? styled(2, 22) : plain,
  };
};
