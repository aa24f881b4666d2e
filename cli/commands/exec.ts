/**
 * `exec`: runs a program in a sandbox, prints its output and exits with its code.
 *
 * One argument after `--` is a shell command line; several are a program and its arguments, without a shell. Output into
 * a pipe or a file is unchanged; on a terminal it loses its control sequences.
 */
import { SallyportError } from '#sdk/errors.ts';
import { api } from '#sdk/routes.ts';
import { callTool, type ToolOutput } from '#sdk/tool-call.ts';
import type { ExecutionResult } from '#shared/contracts/tools/mcp-tools.ts';
import { isUuid } from '#shared/domain/ids.ts';
import { unsureBytesOf } from '#shared/domain/output-offset.ts';
import { abortable } from '../runtime/abort.ts';
import { type Call, type Command, flag, given, value, wholeNumber } from '../runtime/command.ts';
import { makeStripper } from '../runtime/control-characters.ts';
import { failure, wrongUsage } from '../runtime/failure.ts';
import { readPiped } from '../runtime/prompt.ts';
import { endingSession } from './session-end.ts';

type Program = { readonly name: string; readonly args: Readonly<Record<string, unknown>> };
type StreamName = 'stdout' | 'stderr';

const codeBytesMax = 128 * 1024;

const run = async (call: Call): Promise<number> => {
  const { name, args } = await programOf(call);
  const options = given<Record<string, unknown>>({
    session_id: call.text('session'),
    template: call.text('template'),
    flavor: call.text('flavor'),
    timeout: wholeNumber(call.text('timeout'), 'timeout'),
    project_id: call.text('project'),
  });
  const client = await call.client();
  const abort = abortable(call.host, 'the call was cancelled');
  const printer = makePrinter(call);
  let sessionId = call.text('session');
  const work = async (): Promise<number> => {
    const result = await callTool<ExecutionResult>(client, {
      name,
      args: { ...args, ...options },
      signal: abort.signal,
      onOutput: printer.onOutput,
      onSession: (id) => {
        sessionId = id;
      },
    }).catch((cause: unknown) => refuseAgent(call, cause));
    sessionId = result.session_id;
    await printer.finish(result);
    explain(call, result);
    return result.exit_code & 0xff || (result.exit_code === 0 ? 0 : 1);
  };
  try {
    return await endingSession(call, () => sessionId, work);
  } finally {
    abort.release();
  }
};

/** The server names what a client of `/mcp` can do; here other commands work in the session of an agent. */
const refuseAgent = async (call: Call, cause: unknown): Promise<never> => {
  const id = call.text('session');
  if (!(cause instanceof SallyportError) || cause.code !== 'invalid_session_state' || id === undefined)
    throw cause;
  const session = await call.request(api.showSession, { params: { id } }).catch(() => undefined);
  if (session?.kind !== 'agent') throw cause;
  throw failure(cause.code, cause.message, {
    suggestions: [
      `Open a terminal in its sandbox: sallyport shell --session ${id}`,
      `Have its agent run the command: sallyport chat --session ${id}`,
      'Without --session the command runs in a new session.',
    ],
    cause,
  });
};

const programOf = async ({ text, positionals, host }: Call): Promise<Program> => {
  const code = text('code');
  if (code !== undefined && positionals.length > 0)
    throw wrongUsage('give either --code or a command, not both');
  if (code === '-') return { name: 'execute_code', args: { code: await readPiped(host, codeBytesMax) } };
  if (code !== undefined) return { name: 'execute_code', args: { code } };
  const [command, ...args] = positionals;
  if (command === undefined)
    throw wrongUsage('a command or --code is required', [`Usage: sallyport ${usage}`]);
  if (isUuid(command.toLowerCase()))
    throw wrongUsage(`${command} is an id and no command`, [
      `For a command in that session: sallyport exec --session ${command} -- <command…>`,
    ]);
  return { name: 'execute_command', args: { command, ...(args.length === 0 ? {} : { args }) } };
};

const makePrinter = ({ host, output }: Call) => {
  const printed = { stdout: nothingPrinted, stderr: nothingPrinted };
  const cleaner = { stdout: cleanerOf(host.stdout.isTTY), stderr: cleanerOf(host.stderr.isTTY) };
  const print = async (stream: StreamName, text: string): Promise<void> => {
    if (text !== '') await output.raw(cleaner[stream](text), stream);
  };
  return {
    onOutput: (piece: ToolOutput): void => {
      if (output.isJson) return;
      const next = nextPart(printed[piece.stream], piece);
      printed[piece.stream] = next.printed;
      void print(piece.stream, next.text);
    },
    finish: async (result: ExecutionResult): Promise<void> => {
      if (output.isJson) return output.result(result, () => []);
      await print('stdout', remaining(printed.stdout, result.stdout, result.stdout_truncated === true));
      await print('stderr', remaining(printed.stderr, result.stderr, result.stderr_truncated === true));
    },
  };
};

const cleanerOf = (isTerminal: boolean | undefined) =>
  isTerminal === true ? makeStripper() : (text: string) => text;

/** Prints what the program cannot report itself: the reason of a kill, lost variables, the session of its files. */
const explain = ({ output, isSet, text, host }: Call, result: ExecutionResult): void => {
  if (output.isJson) return;
  const { error, state_lost, notices = [], session_id, session_created } = result;
  for (const notice of notices) output.note(notice);
  if (state_lost === true) output.note('The variables of earlier calls were lost.');
  const isOurs =
    error !== undefined && error.type !== 'runtime_error' && error.type !== 'code_execution_error';
  if (isOurs) output.note([`sallyport: ${error.message} (${error.type})`, ...error.suggestions].join('\n  '));
  if (session_created && !isSet('stop') && text('session') === undefined && host.stderr.isTTY === true)
    output.note(`The session stays active: reuse it with --session ${session_id}`);
};

const usage = 'exec [--session <id>] [--stop] (--code <text or -> | -- <command…>)';

export const execCommand: Command = {
  name: 'exec',
  usage:
    '[--session <id>] [--template <name>] [--flavor <f>] [--timeout <seconds>] [--project <id>] [--stop] (--code <text or -> | -- <command…>)',
  summary: 'Run a command or code in a sandbox and exit with its code',
  details: [
    'One argument after -- is a shell command line; several are a program and its arguments, without a shell.',
    '--code - reads the code from stdin. A new session stays active for --session until its idle timeout;',
    '--stop ends it immediately.',
  ],
  options: {
    session: value,
    template: value,
    flavor: value,
    timeout: value,
    project: value,
    code: value,
    stop: flag,
  },
  positionals: { min: 0, max: 1000 },
  run,
};

/**
 * Bytes of the text that was printed. The offsets of pieces count those of the output itself, of which the text has more where a byte was no
 * UTF-8: by `ahead`, and perhaps by `unsure` more since the last piece.
 */
export type Printed = { readonly bytes: number; readonly ahead?: number; readonly unsure?: number };
export const nothingPrinted: Printed = { bytes: 0 };

export type Piece = { readonly offset: number; readonly text: string };

export const nextPart = (
  printed: Printed,
  { offset, text }: Piece,
): { readonly printed: Printed; readonly text: string } => {
  const bytes = Buffer.from(text);
  const { ahead = 0, unsure = 0 } = printed;
  const latest = printed.bytes - ahead;
  const seen = Math.max(0, latest - unsure - offset);
  if (offset > latest || bytes.length <= seen) return { printed, text: '' };
  const total = printed.bytes + bytes.length - seen;
  const replaced = unsureBytesOf(text);
  const known = seen > 0 ? ahead + unsure : printed.bytes - offset;
  return {
    printed: {
      bytes: total,
      ...(known === 0 ? {} : { ahead: known }),
      ...(replaced === 0 ? {} : { unsure: replaced }),
    },
    text: bytes.subarray(seen).toString('utf8'),
  };
};

/** With the place of the whole, where the sandbox has stored that. */
const gap = /\n\[\.\.\. (\d+) bytes left out(; [^\n]{1,300})? \.\.\.\]\n/;

/** The part of the complete output that was not printed yet. A long output has a gap between its first and last part. */
export const remaining = ({ bytes }: Printed, whole: string, isTruncated: boolean): string => {
  const left = isTruncated ? gap.exec(whole) : null;
  if (left === null) return Buffer.from(whole).subarray(bytes).toString('utf8');
  const head = Buffer.byteLength(whole.slice(0, left.index));
  if (bytes <= head) return Buffer.from(whole).subarray(bytes).toString('utf8');
  const tail = Buffer.from(whole.slice(left.index + left[0].length));
  const missed = head + Number(left[1]) - bytes;
  if (missed > 0) return `\n[... ${missed} bytes left out${left[2] ?? ''} ...]\n${tail.toString('utf8')}`;
  return tail.subarray(-missed).toString('utf8');
};
