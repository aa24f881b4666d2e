/**
 * The arguments and results of the tools at `/mcp` that run programs, in the snake_case of their clients.
 *
 * One schema is advertised and used for parsing: it refuses unknown fields by name, says of a bad value what is
 * allowed, and never repeats the value.
 */
import * as z from 'zod';
import { executionSecondsMax, slotWaitSecondsMax, toolTimeoutSeconds } from '#shared/domain/limits.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import { argumentsBytesMax, argumentsMax, codeBytesMax, executionSecondsMin } from './sandbox-tools.ts';
import { closed, flavor, hasNoNul, moment, noNul, projectId, sessionId, template } from './tool-fields.ts';

/** Of one argument: less than a program can take. */
const programBytesMax = 120_000;

const seconds = (min: number, max: number) => {
  const error = `a number of seconds from ${min} to ${max}`;
  return z.number({ error }).min(min, { error }).max(max, { error });
};

const bytesOf = (values: readonly string[]): number =>
  values.reduce((bytes, value) => bytes + utf8Bytes(value), 0);

/** The bytes count; the schema can only advertise characters. */
const boundedText = (bytesMin: number, bytesMax: number) => {
  const error = `a text of ${bytesMin} to ${bytesMax} bytes`;
  return z
    .string({ error })
    .min(bytesMin, { error })
    .max(bytesMax, { error })
    .refine((value) => utf8Bytes(value) <= bytesMax, { error })
    .refine(hasNoNul, noNul);
};
const processArgument = (bytesMin: number) => boundedText(bytesMin, programBytesMax);

const executionShape = {
  template: template.optional().describe('The language; absent: the one of the session.'),
  session_id: sessionId.optional().describe('The session to run in; absent: a new one.'),
  project_id: projectId.optional().describe('The project of a new session; absent: the default one.'),
  flavor: flavor.optional().describe('The size of a new session, in any case.'),
  timeout: seconds(executionSecondsMin, executionSecondsMax)
    .default(toolTimeoutSeconds)
    .describe('Seconds until the program is killed.'),
  wait_seconds: seconds(0, slotWaitSecondsMax)
    .default(0)
    .describe('Seconds to wait for a slot when all sessions are in use.'),
  evict_idle: z
    .boolean({ error: 'true or false' })
    .default(false)
    .describe('When all sessions are in use, stops the one that has been idle longest.'),
};

export const executeCodeArguments = closed({
  code: boundedText(1, codeBytesMax).describe('The program.'),
  ...executionShape,
});

export const executeCommandArguments = closed({
  command: processArgument(1).describe('A bash line, or the name of a program when args are given.'),
  args: z
    .array(processArgument(0), { error: 'a list of texts' })
    .max(argumentsMax, { error: `a list of at most ${argumentsMax} texts` })
    .refine((values) => bytesOf(values) <= argumentsBytesMax, {
      error: `at most ${argumentsBytesMax} bytes together`,
    })
    .optional()
    .describe('Arguments of the program; with them no shell is involved.'),
  ...executionShape,
});

/** The arguments of both execution tools besides the program. */
export type ExecutionArguments = Omit<z.output<typeof executeCodeArguments>, 'code'>;

const executionError = z.object({
  type: z.string().describe('What kind of failure, such as compilation_error or execution_timeout.'),
  message: z.string().describe('The failure in one line.'),
  suggestions: z.array(z.string()).describe('What may help, in words.'),
  recovery_actions: z.array(z.string()).describe('What may help, as names a program can act on.'),
});

export const executionResult = z.object({
  session_id: z.string().describe('The session it ran in: name it in later calls.'),
  stdout: z.string().describe('What the program printed.'),
  stderr: z.string().describe('What the program printed as errors and warnings.'),
  exit_code: z.int().describe('0: it succeeded.'),
  execution_time_ms: z.number().describe('How long it ran.'),
  session_created: z.boolean().describe('Whether the session is new.'),
  error: executionError.optional().describe('There when the program failed.'),
  stdout_truncated: z.boolean().optional().describe('Whether the middle of stdout was left out.'),
  stderr_truncated: z.boolean().optional().describe('Whether the middle of stderr was left out.'),
  state_lost: z.boolean().optional().describe('Whether variables and processes of earlier calls are gone.'),
  cpu_ms: z.number().optional().describe('Processor time it used.'),
  memory_peak_mb: z.number().optional().describe('The most memory it used.'),
  notices: z.array(z.string()).optional().describe('What did not come back or could not be saved.'),
});
export type ExecutionResult = z.output<typeof executionResult>;

export const getSessionsArguments = closed({ session_id: sessionId.optional() });
export const getSessionsResult = z.object({
  sessions: z
    .array(
      z.object({
        id: z.string().describe('Its id.'),
        language: z.string().describe('What its code is written in unless a call says otherwise.'),
        flavor: z.string().describe('Its size.'),
        status: z.string().describe('creating, ready or running.'),
        created_at: moment,
        last_accessed: moment,
        uptime_seconds: z.int().describe('Seconds since it was made.'),
      }),
    )
    .describe('Oldest first.'),
});

export const stopSessionArguments = closed({ session_id: sessionId });
export const stopSessionResult = z.object({
  session_id: z.string().describe('The session that was asked for.'),
  success: z.boolean().describe('Whether it is stopped.'),
  message: z.string().describe('The same for a person.'),
});

export const getVolumePathArguments = closed({ session_id: sessionId.optional() });
export const getVolumePathResult = z.object({
  volume_path: z.string().describe('Where it is in a sandbox.'),
  description: z.string().describe('What it is for.'),
  available: z.boolean().describe('Whether there is one.'),
});
