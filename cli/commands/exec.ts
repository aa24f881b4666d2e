/**
 * `exec`: runs a program in a sandbox, gives its streams and exits as it did.
 *
 * One argument after `--` is a shell line; several are a program with its arguments, and no shell is involved.
 * Into a pipe or a file its output goes byte for byte, on a terminal without control sequences.
 */
import { api } from '#sdk/routes.ts';
import type { ExecutionResult } from '#shared/contracts/tools/mcp-tools.ts';
import { type Call, type Command, given, wholeNumber } from '../command.ts';
import { makeStripper } from '../control-characters.ts';
import { wrongUsage } from '../failure.ts';
import { hear, nothingHeard, unheard } from '../heard-output.ts';
import { callTool, type ToolOutput } from '../mcp-call.ts';
import { readPiped } from '../prompt.ts';

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
  const abort = new AbortController();
  const release = call.host.onInterrupt(() => abort.abort());
  const printer = makePrinter(call);
  try {
    const result = await callTool<ExecutionResult>(client, {
      name,
      args: { ...args, ...options },
      signal: abort.signal,
      onOutput: printer.hear,
    });
    await printer.finish(result);
    if (call.isSet('stop')) await client.request(api.endSession, { params: { id: result.session_id } });
    explain(call, result);
    return result.exit_code & 0xff || (result.exit_code === 0 ? 0 : 1);
  } finally {
    release();
  }
};

const programOf = async ({ text, positionals, host }: Call): Promise<Program> => {
  const code = text('code');
  if (code !== undefined && positionals.length > 0)
    throw wrongUsage('give either --code or a command, not both');
  if (code === '-') return { name: 'execute_code', args: { code: await readPiped(host, codeBytesMax) } };
  if (code !== undefined) return { name: 'execute_code', args: { code } };
  const [command, ...args] = positionals;
  if (command === undefined) throw wrongUsage('what is to be run is missing', [`Usage: sallyport ${usage}`]);
  return { name: 'execute_command', args: { command, ...(args.length === 0 ? {} : { args }) } };
};

const makePrinter = ({ host, output }: Call) => {
  const heard = { stdout: nothingHeard, stderr: nothingHeard };
  const cleaner = { stdout: cleanerOf(host.stdout.isTTY), stderr: cleanerOf(host.stderr.isTTY) };
  const print = async (stream: StreamName, text: string): Promise<void> => {
    if (text !== '') await output.raw(cleaner[stream](text), stream);
  };
  return {
    hear: (piece: ToolOutput): void => {
      if (output.isJson) return;
      const next = hear(heard[piece.stream], piece);
      heard[piece.stream] = next.heard;
      void print(piece.stream, next.text);
    },
    finish: async (result: ExecutionResult): Promise<void> => {
      if (output.isJson) return output.result(result, () => []);
      await print('stdout', unheard(heard.stdout, result.stdout, result.stdout_truncated === true));
      await print('stderr', unheard(heard.stderr, result.stderr, result.stderr_truncated === true));
    },
  };
};

const cleanerOf = (isTerminal: boolean | undefined) =>
  isTerminal === true ? makeStripper() : (text: string) => text;

/** What a program cannot say about itself: why it was killed, what was lost, and where its files are. */
const explain = ({ output, isSet, text, host }: Call, result: ExecutionResult): void => {
  if (output.isJson) return;
  const { error, state_lost, notices = [], session_id, session_created } = result;
  for (const notice of notices) output.note(notice);
  if (state_lost === true) output.note('The variables of earlier calls are lost.');
  const isOurs =
    error !== undefined && error.type !== 'runtime_error' && error.type !== 'code_execution_error';
  if (isOurs) output.note([`sallyport: ${error.message} (${error.type})`, ...error.suggestions].join('\n  '));
  if (session_created && !isSet('stop') && text('session') === undefined && host.stderr.isTTY === true)
    output.note(`The session is kept: go on with --session ${session_id}`);
};

const usage = 'exec [--session <id>] [--stop] (--code <text or -> | -- <command…>)';

export const execCommand: Command = {
  name: 'exec',
  usage:
    '[--session <id>] [--template python|node] [--flavor <f>] [--timeout <seconds>] [--project <id>] [--stop] (--code <text or -> | -- <command…>)',
  summary: 'Run a command or code in a sandbox and exit as it did',
  details: [
    'One argument after -- is a shell line; several are a program with its arguments, without a shell.',
    '--code - reads the code from stdin. A new session is kept for --session until it is idle for long;',
    '--stop ends it at once.',
  ],
  options: {
    session: { type: 'string' },
    template: { type: 'string' },
    flavor: { type: 'string' },
    timeout: { type: 'string' },
    project: { type: 'string' },
    code: { type: 'string' },
    stop: { type: 'boolean' },
  },
  positionals: { min: 0, max: 1000 },
  run,
};
