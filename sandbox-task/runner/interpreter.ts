/**
 * One interpreter: a user process that runs one piece of code after another and keeps their definitions.
 *
 * Its stdout and stderr are read all its life, so that no process that still holds them is killed by a closed pipe. Its
 * messages are checked for their shape: user code may write on the same pipe.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { createFrameReader, encodeFrame } from '../wire/frame.ts';
import { streamNames } from '../wire/messages.ts';
import {
  type InterpreterMessage,
  type InterpreterRequest,
  isJsonType,
  jsonBytesMax,
  type Language,
  type ResultPart,
  type ResultShape,
  resultBytesMax,
  resultMimeType,
  resultPartsMax,
  resultsMax,
} from '../wire/program-messages.ts';
import { cpuMsOf, markOption, readNewChildrenCpuMs } from './call-processes.ts';
import { drain } from './last-output.ts';
import { createMarkedStream, type MarkedStream } from './marked-stream.ts';
import { type SandboxPaths, spawnMarked } from './user-process.ts';

export type InterpreterEnd = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly startFailure: string | null;
};
type InterpreterListener = (message: InterpreterMessage, payload: Buffer) => void;
export type Interpreter = {
  readonly pid: number | undefined;
  /** It was ready for code, and may have state. */
  readonly hasStarted: () => boolean;
  readonly stdout: MarkedStream;
  readonly stderr: MarkedStream;
  readonly send: (request: InterpreterRequest, code: Buffer, listener: InterpreterListener) => void;
  /** Its processes of the next call are found by this mark. False when the mark cannot be set. */
  readonly changeMark: (mark: number) => Promise<boolean>;
  readonly signal: (name: NodeJS.Signals) => void;
  /** Processor time of its whole life; after its end the final value. */
  readonly cpuMs: () => number;
  readonly died: Promise<InterpreterEnd>;
};

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const argvOf: Readonly<Record<Language, (paths: SandboxPaths) => readonly string[]>> = {
  python: () => ['python3', beside('./python-interpreter.py')],
  node: ({ nodePath }) => [nodePath, beside('./node-interpreter.mjs')],
};

export const startInterpreter = (language: Language, paths: SandboxPaths, mark: number): Interpreter => {
  const child = spawnMarked({ ...paths, argv: argvOf[language](paths), hasChannel: true }, mark);
  const streams = { stdout: createMarkedStream(), stderr: createMarkedStream() };
  for (const name of streamNames) child[name]?.on('data', streams[name].push);
  let listener: InterpreterListener = () => undefined;
  let isReady = false;
  let lastCpuMs: number | undefined;
  const signal = (name: NodeJS.Signals): void => {
    // After its end the id may belong to another process.
    if (child.exitCode === null && child.signalCode === null) child.kill(name);
  };
  const channel = openChannel(child, {
    onMessage: (message, payload) => {
      if (message.type === 'ready') isReady = true;
      else listener(message, payload);
    },
    onProtocolError: () => signal('SIGKILL'),
  });
  const died = endOf(child).then((end) => {
    lastCpuMs = readNewChildrenCpuMs();
    return end;
  });
  return {
    pid: child.pid,
    hasStarted: () => isReady,
    ...streams,
    send: (request, code, next) => {
      listener = next;
      channel.write(encodeFrame(request, code));
    },
    changeMark: (next) => changeMark(child.pid, next),
    signal,
    cpuMs: () => lastCpuMs ?? cpuMsOf(child.pid ?? 0),
    died,
  };
};

const openChannel = (
  child: ChildProcess,
  {
    onMessage,
    onProtocolError,
  }: { readonly onMessage: InterpreterListener; readonly onProtocolError: () => void },
): Duplex => {
  const channel = child.stdio[3] as Duplex;
  const read = createFrameReader(({ header, payload }) =>
    onMessage(parseInterpreterMessage(header), payload),
  );
  channel.on('data', (chunk: Buffer) => {
    try {
      read(chunk);
    } catch {
      // User code wrote on the pipe: the rest of it cannot be parsed.
      channel.removeAllListeners('data').resume();
      onProtocolError();
    }
  });
  channel.on('error', () => undefined);
  return channel;
};

/** Its last output is read before its end is reported. */
const endOf = (child: ChildProcess): Promise<InterpreterEnd> =>
  new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => {
      void drain(child).then(() => resolve({ exitCode, signal, startFailure: null }));
    });
    child.once('error', (error) => {
      if (child.pid === undefined) resolve({ exitCode: null, signal: null, startFailure: error.message });
    });
  });

const changeMark = async (pid: number | undefined, mark: number): Promise<boolean> => {
  const setter = spawn('prlimit', [`--pid=${pid}`, markOption(mark)], { stdio: 'ignore' });
  try {
    const [code] = (await once(setter, 'exit')) as [number | null];
    return code === 0;
  } catch {
    // No process can be started: then no process of the call could be found either.
    return false;
  }
};

const errorLineCharactersMax = 2000;

const isPart = (given: unknown): given is ResultPart => {
  const { mimeType, bytes } = (given ?? {}) as Partial<Record<string, unknown>>;
  return typeof mimeType === 'string' && resultMimeType.test(mimeType) && isCount(bytes);
};

const isCount = (given: unknown): boolean => Number.isSafeInteger(given) && Number(given) >= 0;

/** Throws on anything else; then the interpreter is ended. */
const parseInterpreterMessage = (header: unknown): InterpreterMessage => {
  const message = header as Partial<Record<string, unknown>> | null;
  switch (message?.['type']) {
    case 'ready':
      return { type: 'ready' };
    case 'result': {
      const { isValue, parts } = message;
      if (!Array.isArray(parts) || parts.length > resultPartsMax || !parts.every(isPart)) break;
      return { type: 'result', isValue: isValue === true, parts };
    }
    case 'done': {
      const { exitCode, errorLine } = message;
      if (!Number.isSafeInteger(exitCode)) break;
      const line = typeof errorLine === 'string' ? errorLine.slice(0, errorLineCharactersMax) : null;
      return { type: 'done', exitCode: Number(exitCode), errorLine: line };
    }
    case undefined:
      break;
  }
  throw new Error('an interpreter does not speak the protocol');
};

type Result = ResultShape & { readonly content: Buffer };

/** The results of one call within their bounds; of a value that is too long its text remains. */
export const collectResults = () => {
  const displayed: Result[] = [];
  let value: Result | undefined;
  let bytes = 0;
  let jsonBytes = 0;
  let leftOut = 0;
  const take = ({ isValue }: ResultShape, parts: readonly TakenPart[]): Result => {
    const content = Buffer.concat(parts.map((part) => part.content));
    bytes += content.length;
    jsonBytes += lengthOf(parts.filter(({ mimeType }) => isJsonType(mimeType)));
    const shapes = parts.map((part) => ({ mimeType: part.mimeType, bytes: part.content.length }));
    return { isValue, parts: shapes, content };
  };
  const addDisplayed = (shape: ResultShape, parts: readonly TakenPart[]): void => {
    const isOver = displayed.length === resultsMax || bytes + lengthOf(parts) > resultBytesMax;
    if (parts.length === 0 || isOver) leftOut += 1;
    else displayed.push(take(shape, parts));
  };
  const addValue = (shape: ResultShape, parts: readonly TakenPart[]): void => {
    const isOver = bytes + lengthOf(parts) > resultBytesMax;
    const kept = isOver ? parts.filter(isShortText) : parts;
    if (value === undefined && kept.length > 0) value = take(shape, kept);
  };
  return {
    add: (shape: ResultShape, payload: Buffer): void => {
      const whole = divide(shape.parts, payload);
      const json = lengthOf(whole.filter(({ mimeType }) => isJsonType(mimeType)));
      const isJsonOver = jsonBytes + json > jsonBytesMax;
      const parts = isJsonOver ? whole.filter(({ mimeType }) => !isJsonType(mimeType)) : whole;
      if (shape.isValue) addValue(shape, parts);
      else addDisplayed(shape, parts);
    },
    end: () => ({
      results: [...displayed, ...(value === undefined ? [] : [value])],
      resultsLeftOut: leftOut,
    }),
  };
};

type TakenPart = { readonly mimeType: string; readonly content: Buffer };

const lengthOf = (parts: readonly TakenPart[]): number =>
  parts.reduce((sum, { content }) => sum + content.length, 0);

const shortTextBytesMax = 512 * 1024;
const isShortText = ({ mimeType, content }: TakenPart): boolean =>
  mimeType === 'text/plain' && content.length <= shortTextBytesMax;

/** Nothing of a result whose payload is not whole. */
const divide = (parts: ResultShape['parts'], payload: Buffer): readonly TakenPart[] => {
  if (parts.reduce((sum, { bytes }) => sum + bytes, 0) !== payload.length) return [];
  let at = 0;
  return parts.map(({ mimeType, bytes }) => {
    at += bytes;
    return { mimeType, content: payload.subarray(at - bytes, at) };
  });
};
