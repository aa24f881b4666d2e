/**
 * The arguments and results of the tool `process`: at `/mcp`, where a call names its session, and for an agent, whose session
 * is its own.
 */
import * as z from 'zod';
import { outputCharactersShown, slotWaitSecondsMax } from '#shared/domain/limits.ts';
import { onFirstUse } from '../on-first-use.ts';
import { signal } from '../process.ts';
import { outputLimitMax, outputLimitMin } from './sandbox-tools.ts';
import { closed, flag, id, moment, wholeFrom } from './tool-fields.ts';

const inputCharactersMax = 65_536;
const inputError = `a text of at most ${inputCharactersMax} characters`;

const sessionId = id.describe('Id of the session in which the process was started.');
const processId = id.describe('Id of the process.');

const named = { process_id: processId };

const outputFields = {
  ...named,
  offset: wholeFrom(0, Number.MAX_SAFE_INTEGER)
    .default(0)
    .describe('First byte of the output; next_offset of the previous call continues it.'),
  output_limit: wholeFrom(outputLimitMin, outputLimitMax)
    .default(outputCharactersShown)
    .describe('Largest number of characters to return.'),
  wait_seconds: wholeFrom(0, slotWaitSecondsMax)
    .default(0)
    .describe('Seconds to wait for more output, until the process ends.'),
};

const inputFields = {
  ...named,
  text: z
    .string({ error: inputError })
    .max(inputCharactersMax, { error: inputError })
    .default('')
    .describe('Text for the standard input; a line ends with a line feed.'),
  eof: flag.default(false).describe('True: close the standard input afterwards.'),
};

const signalFields = {
  ...named,
  signal: signal.describe('Signal for the process and its children.'),
};

export const listProcessesArguments = closed({ session_id: sessionId });
export const processOutputArguments = closed({ session_id: sessionId, ...outputFields });
export const processInputArguments = closed({ session_id: sessionId, ...inputFields });
export const processSignalArguments = closed({ session_id: sessionId, ...signalFields });
export const killProcessArguments = closed({ session_id: sessionId, ...named });

/** A call of an agent. */
export const agentProcessCall = onFirstUse(() =>
  z.discriminatedUnion('action', [
    z.object({ action: z.literal('list') }),
    z.object({ action: z.literal('output'), ...outputFields }),
    z.object({ action: z.literal('input'), ...inputFields }),
    z.object({ action: z.literal('signal'), ...signalFields }),
    z.object({ action: z.literal('kill'), ...named }),
  ]),
);
export type AgentProcessCall = z.output<ReturnType<typeof agentProcessCall>>;

export const agentProcessActions = ['list', 'output', 'input', 'signal', 'kill'] as const;

/** Each parameter of an agent's call beside its action. */
export const agentProcessFields = { ...outputFields, ...inputFields, ...signalFields };

const state = z.string().describe('State: running, exited or lost (with its sandbox).');
const exitCode = z.int().optional().describe('Exit code of a process that has exited.');

export const listProcessesResult = z.object({
  processes: z
    .array(
      z.object({
        process_id: z.string().describe('Id of the process.'),
        command: z.string().describe('Command line.'),
        state,
        exit_code: exitCode,
        started_at: moment,
        ended_at: moment.optional(),
      }),
    )
    .describe('Processes of the workspace.'),
});

export const processOutputResult = z.object({
  process_id: z.string().describe('Id of the process.'),
  state,
  exit_code: exitCode,
  output: z.string().describe('Output from the offset on, stdout and stderr as they came.'),
  next_offset: z.int().describe('Offset of the first byte that was not returned.'),
  has_more: z.boolean().describe('True: more output is stored.'),
  skipped_bytes: z.int().optional().describe('Bytes before the output that are no longer stored.'),
  output_lost: z
    .literal(true)
    .optional()
    .describe('True: the sandbox has ended, and what was left of the output with it.'),
});

export const processDoneResult = z.object({
  process_id: z.string().describe('Id of the process.'),
  message: z.string().describe('Summary for a person.'),
});
