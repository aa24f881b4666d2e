/**
 * The result of a finished program: text for a language model, fields for a program.
 *
 * Pure. The runner's numbers are trusted for nothing but to divide its own payload.
 */

import type { CallToolResult } from '@modelcontextprotocol/server';
import { exitLine } from '#shared/domain/execution-failure.ts';
import type { KillCause, StreamSummary } from '../wire/messages.ts';
import { type CodeResult, readResults, toBlocks, toBundles, valueText } from './code-results.ts';
import type { Execution, Exit } from './user-side.ts';

type Circumstances = {
  readonly timeoutSeconds: number;
  readonly memoryMbMax: number;
  readonly processesMax: number;
  /** The kernel killed for want of memory while it ran. */
  readonly isOutOfMemory: boolean;
  readonly memoryPeakMb: number | undefined;
};

type ExecutionError = { readonly type: string; readonly message: string };

/** A shell answers 128 plus the number for a program that a signal ended (bash(1), EXIT STATUS). */
const signalExitBase = 128;

export type FinishedExecution = Execution & {
  /** MIME bundles instead of blocks. */
  readonly hasBundles: boolean;
  /** Characters of each stream that are shown. */
  readonly outputLimit?: number | undefined;
};

export const toExecutionResult = (
  { exit, payload, hasBundles, outputLimit }: FinishedExecution,
  circumstances: Circumstances,
  signalNumbers: Readonly<Record<string, number>>,
): CallToolResult => {
  const stdoutBytes = exit.stdout.headBytes + exit.stdout.tailBytes;
  const streamBytes = stdoutBytes + exit.stderr.headBytes + exit.stderr.tailBytes;
  const out = showStream(exit.stdout, payload.subarray(0, stdoutBytes), outputLimit);
  const err = showStream(exit.stderr, payload.subarray(stdoutBytes, streamBytes), outputLimit);
  const { text: stdout } = out;
  const { text: stderr } = err;
  const errorLine = exit.errorLine ?? (exit.signal === null ? undefined : fatalErrorLine(stderr));
  const error = findError(exit, circumstances);
  const exitCode = error?.isKill ? null : exitCodeOf(exit, signalNumbers);
  const results = readResults(exit, payload.subarray(streamBytes));
  const value = valueText(results);
  return {
    content: [
      {
        type: 'text',
        text: readable({
          ...{ stdout, stderr, exitCode, error: error?.error, stateLost: exit.stateLost },
          value,
        }),
      },
      ...(hasBundles ? [] : toBlocks(results, exit.resultsLeftOut)),
    ],
    structuredContent: {
      stdout,
      stderr,
      exit_code: exitCode,
      execution_time_ms: exit.durationMs,
      ...cutFields('stdout', out),
      ...cutFields('stderr', err),
      // Of its first process and the children that it waited for, without parallel calls (runner/call.ts).
      cpu_ms: exit.cpuMs,
      // Of the whole sandbox during the call, with parallel and background processes (memory-counters.ts).
      ...(circumstances.memoryPeakMb === undefined ? {} : { memory_peak_mb: circumstances.memoryPeakMb }),
      ...(exit.stateLost ? { state_lost: true } : {}),
      // The platform classifies the failure by these (shared/domain/execution-failure.ts).
      ...(exit.signal === null ? {} : { signal: exit.signal }),
      ...(errorLine === undefined ? {} : { error_line: errorLine }),
      ...(error ? { error: error.error } : {}),
      ...(hasBundles ? bundleFields(results, exit) : value === '' ? {} : { value }),
    },
  };
};

const bundleFields = (results: readonly CodeResult[], { resultsLeftOut }: Exit) => ({
  results: toBundles(results),
  ...(resultsLeftOut === 0 ? {} : { results_left_out: resultsLeftOut }),
});

/** The last line of V8 before it aborts without an exception. */
const fatalErrorLine = (stderr: string): string | undefined =>
  stderr.match(/^FATAL ERROR: .{1,500}$/gm)?.at(-1);

const isCut = ({ bytes, headBytes, tailBytes }: StreamSummary): boolean => bytes > headBytes + tailBytes;

type ShownStream = { readonly text: string; readonly isCut: boolean; readonly file?: string };

const cutFields = (stream: 'stdout' | 'stderr', { isCut, file }: ShownStream) => ({
  ...(isCut ? { [`${stream}_truncated`]: true } : {}),
  ...(file === undefined ? {} : { [`${stream}_file`]: file }),
});

/** The head and the tail of a stream, and the name of the file that has all of it. */
const showStream = (
  summary: StreamSummary,
  payload: Buffer,
  charactersMax = Number.POSITIVE_INFINITY,
): ShownStream => {
  const head = payload.subarray(0, summary.headBytes);
  const tail = payload.subarray(summary.headBytes, summary.headBytes + summary.tailBytes);
  const isGap = isCut(summary);
  const whole = isGap ? '' : Buffer.concat([head, tail]).toString();
  if (!isGap && whole.length <= charactersMax) return { text: whole, isCut: false };
  // A code point that the gap divides becomes the replacement character, which is dropped.
  const before = isGap ? head.toString().replace(/\uFFFD+$/, '') : whole;
  const after = isGap ? tail.toString().replace(/^\uFFFD+/, '') : whole;
  const half = Math.floor((charactersMax - noteCharacters(summary, charactersMax)) / 2);
  const first = before.slice(0, half).replace(/[\uD800-\uDBFF]$/, '');
  const last = half === 0 ? '' : after.slice(-half).replace(/^[\uDC00-\uDFFF]/, '');
  const left = summary.bytes - Buffer.byteLength(first) - Buffer.byteLength(last);
  const { file } = summary;
  return {
    text: `${first}${noteOf(summary, left)}${last}`,
    isCut: true,
    ...(file === undefined ? {} : { file: `/workspace/${file.path}` }),
  };
};

const noteOf = (summary: StreamSummary, left: number): string => {
  const { file } = summary;
  const place = file === undefined ? '' : `; ${storedPart(summary)} in /workspace/${file.path}`;
  return `\n[... ${left} bytes left out${place} ...]\n`;
};

/** From here on the note is part of the limit; a smaller one would have room for little else. */
const limitWithNoteMin = 1000;

const noteCharacters = (summary: StreamSummary, charactersMax: number): number =>
  charactersMax < limitWithNoteMin || charactersMax === Number.POSITIVE_INFINITY
    ? 0
    : noteOf(summary, summary.bytes).length;

const storedPart = ({ bytes, file }: StreamSummary): string =>
  file !== undefined && file.bytes < bytes ? `the first ${file.bytes} bytes are` : 'the whole is';

/** Why it was killed, if one of its limits was the reason. */
export const limitKillOf = (exit: Exit, circumstances: Circumstances): string | undefined => {
  const found = findError(exit, circumstances);
  return found?.isKill && found.error.type !== 'cancelled' ? found.error.message : undefined;
};

const findError = (
  exit: Exit,
  circumstances: Circumstances,
): { readonly error: ExecutionError; readonly isKill: boolean } | undefined => {
  const killedFor = circumstances.isOutOfMemory ? 'memory' : exit.killedFor;
  if (killedFor !== null) {
    const { type, message } = describeKill(killedFor, circumstances);
    const lost = exit.stateLost ? '; its interpreter was killed, and its definitions are lost' : '';
    return { error: { type, message: `${message}${lost}` }, isKill: true };
  }
  if (exit.startFailure === null) return undefined;
  return {
    error: { type: 'system_error', message: `could not be started: ${exit.startFailure}` },
    isKill: false,
  };
};

const describeKill = (cause: KillCause, limits: Circumstances): ExecutionError => {
  switch (cause) {
    case 'timeout':
      return { type: 'execution_timeout', message: `timed out after ${limits.timeoutSeconds} s` };
    case 'memory':
      return {
        type: 'resource_limit_exceeded',
        message: `out of memory: the limit is ${limits.memoryMbMax} MB`,
      };
    case 'processes':
      return {
        type: 'resource_limit_exceeded',
        message: `process limit reached: at most ${limits.processesMax} processes and threads`,
      };
    case 'cancelled':
      return { type: 'cancelled', message: 'cancelled' };
  }
};

const exitCodeOf = (exit: Exit, signalNumbers: Readonly<Record<string, number>>): number =>
  exit.exitCode ?? signalExitBase + (signalNumbers[exit.signal ?? ''] ?? 0);

type Readable = {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly error: ExecutionError | undefined;
  readonly stateLost: boolean;
  readonly value: string;
};

const readable = ({ stdout, stderr, exitCode, error, stateLost, value }: Readable): string => {
  const last = error
    ? `Error: ${error.message}`
    : exitCode === null || exitCode === 0
      ? ''
      : exitLine(exitCode);
  const lost = stateLost && !error ? '[Earlier definitions in this context are lost.]' : '';
  return [stdout, stderr, last, lost, value]
    .filter((part) => part !== '')
    .map((part, index, parts) => (index < parts.length - 1 && !part.endsWith('\n') ? `${part}\n` : part))
    .join('');
};
