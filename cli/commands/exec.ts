/**
 * `exec`: runs a program in a sandbox, prints its output and exits with its code.
 *
 * One argument after `--` is a shell command line; several are a program and its arguments, without a shell. Output is text,
 * and of a long stream a part; stderr reports the missing parts. On a terminal it loses its control sequences.
 */
import { SallyportError } from '#sdk/errors.ts';
import { api } from '#sdk/routes.ts';
import { callTool, type ToolOutput } from '#sdk/tool-call.ts';
import type { ExecutionResult } from '#shared/contracts/tools/mcp-tools.ts';
import { isUuid } from '#shared/domain/ids.ts';
import { languages } from '#shared/domain/template.ts';
import { abortable } from '../runtime/abort.ts';
import { type Call, type Command, flag, given, value, wholeNumber } from '../runtime/command.ts';
import { makeStripper } from '../runtime/control-characters.ts';
import { failure, wrongUsage } from '../runtime/failure.ts';
import { readPiped } from '../runtime/prompt.ts';
import { followPieces } from './live-output.ts';
import {
  networkDetail,
  newSandboxOptions,
  newSandboxUsage,
  newSessionOf,
  refuseBesideSession,
} from './new-session.ts';
import { endingSession, makeSession } from './session-end.ts';

type Program = { readonly name: string; readonly args: Readonly<Record<string, unknown>> };
const streamNames = ['stdout', 'stderr'] as const;
type StreamName = (typeof streamNames)[number];

const codeBytesMax = 128 * 1024;

const run = async (call: Call): Promise<number> => {
  // The template also names the language of code, and variables may be those of one call.
  refuseBesideSession(call, ['template', 'env']);
  const { name, args } = await programOf(call);
  const timeout = wholeNumber(call.text('timeout'), 'timeout');
  const named = newSessionOf(call);
  const client = await call.client();
  const abort = abortable(call.host, 'the call was cancelled');
  const printer = makePrinter(call);
  let sessionId = call.text('session');
  const work = async (): Promise<number> => {
    const isMade = sessionId === undefined && isBeyondTool(named);
    if (isMade) sessionId = await makeSession(call, { kind: 'execution', ...named }, abort.signal);
    abort.signal.throwIfAborted();
    const place = isMade ? {} : placeOf(call);
    const answer = await callTool<ExecutionResult>(client, {
      name,
      args: { ...args, ...given<Record<string, unknown>>({ session_id: sessionId, ...place, timeout }) },
      signal: abort.signal,
      onOutput: printer.onOutput,
      onSession: (id) => {
        sessionId = id;
      },
    }).catch((cause: unknown) => refuseAgent(call, cause));
    const result = { ...answer, session_created: call.text('session') === undefined };
    sessionId = result.session_id;
    const cut = await printer.finish(result);
    if (!call.output.isJson) explain(call, result, cut);
    return result.exit_code & 0xff || (result.exit_code === 0 ? 0 : 1);
  };
  try {
    return await endingSession(call, () => sessionId, work);
  } finally {
    abort.release();
  }
};

/** The tool makes a session by itself, but with none of these. */
const isBeyondTool = ({ template, env, network }: ReturnType<typeof newSessionOf>): boolean =>
  env !== undefined ||
  network !== undefined ||
  (template !== undefined && !languages.some((language) => language === template));

const placeOf = ({ text, list }: Call): object => ({
  ...{ template: text('template'), flavor: text('flavor'), project_id: text('project') },
  env: list('env').length === 0 ? undefined : list('env'),
});

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
    throw wrongUsage(`${command} is an id, not a command`, [
      `For a command in that session: sallyport exec --session ${command} -- <command…>`,
    ]);
  return { name: 'execute_command', args: { command, ...(args.length === 0 ? {} : { args }) } };
};

const makePrinter = ({ host, output }: Call) => {
  const cleaner = { stdout: cleanerOf(host.stdout.isTTY), stderr: cleanerOf(host.stderr.isTTY) };
  const print = async (stream: StreamName, text: string): Promise<void> => {
    if (text !== '') await output.raw(cleaner[stream](text), stream);
  };
  const follow = (stream: StreamName) => followPieces((text) => void print(stream, text));
  const pieces = { stdout: follow('stdout'), stderr: follow('stderr') };
  return {
    onOutput: (piece: ToolOutput): void => {
      if (!output.isJson) pieces[piece.stream].add(piece);
    },
    /** Answers the streams of which a part was not printed. */
    finish: async (result: ExecutionResult): Promise<readonly StreamName[]> => {
      if (output.isJson) {
        output.result(result, () => []);
        return [];
      }
      const cut: StreamName[] = [];
      for (const stream of streamNames) {
        const isTruncated = result[`${stream}_truncated`] === true;
        const { text, isWhole } = pieces[stream].finish(result[stream], isTruncated);
        await print(stream, text);
        if (!isWhole) cut.push(stream);
      }
      return cut;
    },
  };
};

const cleanerOf = (isTerminal: boolean | undefined) =>
  isTerminal === true ? makeStripper() : (text: string) => text;

/** Prints what the program cannot report itself: lost output, the reason of a kill, lost variables, the session of its files. */
const explain = (call: Call, result: ExecutionResult, cut: readonly StreamName[]): void => {
  const { output, isSet, host } = call;
  for (const stream of cut) output.note(cutNote(call, result, stream));
  // A pipe or a file shows it nowhere else.
  for (const stream of streamNames)
    if (host[stream].isTTY !== true && result[stream].includes('\ufffd'))
      output.note(`${stream} ${notBytes}`);
  const { error, state_lost, notices = [], session_id, session_created } = result;
  for (const notice of notices) output.note(notice);
  if (state_lost === true) output.note('The variables of earlier calls were lost.');
  const isOurs =
    error !== undefined && error.type !== 'runtime_error' && error.type !== 'code_execution_error';
  if (isOurs) output.note([`sallyport: ${error.message} (${error.type})`, ...error.suggestions].join('\n  '));
  if (session_created && !isSet('stop') && host.stderr.isTTY === true)
    output.note(`The session stays active: reuse it with --session ${session_id}`);
};

const cutNote = ({ isSet }: Call, result: ExecutionResult, stream: StreamName): string => {
  const file = result[`${stream}_file`]?.replace(/^\/workspace\//, '');
  if (file === undefined) return `A part of ${stream} was left out.`;
  if (isSet('stop')) return `A part of ${stream} was left out. A session without --stop keeps it in a file.`;
  return `A part of ${stream} was left out. What the sandbox kept of it: sallyport files get ${result.session_id} ${file} <local>`;
};

const notBytes =
  'has U+FFFD, which stands for bytes that are no UTF-8. `sallyport files get` brings the bytes of a file.';

const usage = 'exec [--session <id>] [--stop] (--code <text or -> | -- <command…>)';

export const execCommand: Command = {
  name: 'exec',
  usage: `[--session <id>] [--timeout <seconds>] ${newSandboxUsage} [--stop] (--code <text or -> | -- <command…>)`,
  summary: 'Run a command or code in a sandbox and exit with its code',
  details: [
    'One argument after -- is a shell command line; several are a program and its arguments, without a shell.',
    '--code - reads the code from stdin. A new session stays active for --session until its idle timeout;',
    '--stop ends it immediately. --env beside --session counts for this call alone. The program has no input.',
    networkDetail,
  ],
  options: { session: value, timeout: value, ...newSandboxOptions, code: value, stop: flag },
  positionals: { min: 0, max: 1000 },
  run,
};
