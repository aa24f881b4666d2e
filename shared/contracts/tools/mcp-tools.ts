/**
 * The arguments and results of the tools at `/mcp` that run programs and that read and write files, in the snake_case of
 * their clients.
 *
 * One schema is advertised and used for parsing: it refuses unknown fields by name, says of a bad value what is
 * allowed, and never repeats the value.
 */
import * as z from 'zod';
import {
  executionSecondsMax,
  outputCharactersShown,
  slotWaitSecondsMax,
  toolTimeoutSeconds,
} from '#shared/domain/limits.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import { filePathProblem, pathCharactersMax } from '../fields.ts';
import {
  argumentsBytes,
  argumentsBytesMax,
  argumentsMax,
  hasNoNul,
  programVariables,
  workingFolder,
} from '../program-fields.ts';
import { pairs } from './free-form-fields.ts';
import { codeBytesMax, executionSecondsMin, outputLimitMax, outputLimitMin } from './sandbox-tools.ts';
import {
  closed,
  flag,
  flavor,
  id,
  moment,
  noNul,
  oneOf,
  projectId,
  sessionId,
  template,
  text,
  wholeFrom,
} from './tool-fields.ts';

/** Of one argument: less than a program can take. */
const programBytesMax = 120_000;

const seconds = (min: number, max: number) => {
  const error = `a number of seconds from ${min} to ${max}`;
  return z.number({ error }).min(min, { error }).max(max, { error });
};

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

const variables = pairs(/^([^=]+)=(.*)$/s, { form: 'NAME=value', of: programVariables });

const executionShape = {
  template: template.optional().describe('Language; absent: that of the session.'),
  session_id: sessionId.optional().describe('Id of the session to run in; absent: a new one.'),
  project_id: projectId.optional().describe('Id of the project of a new session; absent: the default one.'),
  flavor: flavor.optional().describe('Flavor of a new session, in upper or lower case.'),
  timeout: seconds(executionSecondsMin, executionSecondsMax)
    .default(toolTimeoutSeconds)
    .describe('Seconds until the program is killed.'),
  cwd: workingFolder.optional(),
  env: variables.optional().describe('Environment variables of this call: NAME=value.'),
  output_limit: wholeFrom(outputLimitMin, outputLimitMax)
    .default(outputCharactersShown)
    .describe('Characters of stdout and of stderr to return, head and tail; the whole is in a file.'),
  background: flag
    .default(false)
    .describe('True: start it as a process and return its process_id at once; see the tool process.'),
  wait_seconds: seconds(0, slotWaitSecondsMax)
    .default(0)
    .describe('Seconds to wait for a slot when all are busy.'),
  evict_idle: flag
    .default(false)
    .describe(
      'True: the sandbox that has been idle longest gives way, also where the operator has turned that off.',
    ),
};

export const executeCodeArguments = closed({
  code: boundedText(1, codeBytesMax).describe('Code to run.'),
  ...executionShape,
});

export const executeCommandArguments = closed({
  command: processArgument(1).describe('Bash line, or the name of a program when args are given.'),
  args: z
    .array(processArgument(0), { error: 'a list of texts' })
    .max(argumentsMax, { error: `a list of at most ${argumentsMax} texts` })
    .refine((values) => argumentsBytes(values) <= argumentsBytesMax, {
      error: `at most ${argumentsBytesMax} bytes together`,
    })
    .optional()
    .describe('Arguments of the program, which then runs without a shell.'),
  ...executionShape,
});

/** The arguments of both execution tools besides the program. */
export type ExecutionArguments = Omit<z.output<typeof executeCodeArguments>, 'code'>;

const executionError = z.object({
  type: z.string().describe('Kind of failure, such as compilation_error or execution_timeout.'),
  message: z.string().describe('Error message of one line.'),
  suggestions: z.array(z.string()).describe('Suggestions for a reader.'),
  recovery_actions: z.array(z.string()).describe('Suggestions as names that a program can act on.'),
});

export const executionResult = z.object({
  session_id: z.string().describe('Id of the session; pass it in later calls.'),
  stdout: z.string().describe('Standard output of the program.'),
  stderr: z.string().describe('Standard error of the program.'),
  exit_code: z.int().describe('Exit code; 0: success.'),
  execution_time_ms: z.number().describe('Run time in milliseconds.'),
  session_created: z.boolean().describe('True: the session is new.'),
  process_id: z.string().optional().describe('Id of the process that was started in the background.'),
  error: executionError.optional().describe('Failure of the program; absent: it succeeded.'),
  stdout_truncated: z.boolean().optional().describe('True: the middle of stdout was left out.'),
  stderr_truncated: z.boolean().optional().describe('True: the middle of stderr was left out.'),
  stdout_file: z.string().optional().describe('Path of the file with all of stdout.'),
  stderr_file: z.string().optional().describe('Path of the file with all of stderr.'),
  state_lost: z.boolean().optional().describe('True: variables and processes of earlier calls are lost.'),
  cpu_ms: z.number().optional().describe('Processor time in milliseconds.'),
  memory_peak_mb: z.number().optional().describe('Peak memory in megabytes.'),
  notices: z.array(z.string()).optional().describe('Notices of files that were not restored or not saved.'),
});
export type ExecutionResult = z.output<typeof executionResult>;

export const getSessionsArguments = closed({
  session_id: sessionId.optional().describe('Id of the only session to show; absent: all.'),
});
export const getSessionsResult = z.object({
  sessions: z
    .array(
      z.object({
        id: z.string().describe('Id of the session.'),
        language: z.string().describe('Default language of its code.'),
        flavor: z.string().describe('Flavor of the session.'),
        status: z.string().describe('Status: creating, ready, running or paused.'),
        created_at: moment,
        last_accessed: moment,
        uptime_seconds: z.int().describe('Seconds since the session was created.'),
      }),
    )
    .describe('Execution sessions, oldest first.'),
});

export const stopSessionArguments = closed({ session_id: id.describe('Id of the session to stop.') });
export const stopSessionResult = z.object({
  session_id: z.string().describe('Id of the session.'),
  success: z.boolean().describe('True: the session is stopped.'),
  message: z.string().describe('Summary for a person.'),
});

export const getVolumePathArguments = closed({
  session_id: id.optional().describe('Id of a session; the path is the same in all.'),
});
export const getVolumePathResult = z.object({
  volume_path: z.string().describe('Path of the shared folder in a sandbox.'),
  description: z.string().describe('Purpose of the shared folder.'),
  available: z.boolean().describe('True: the deployment has a shared folder.'),
});

const path = text(pathCharactersMax)
  .refine((given) => filePathProblem(given) === undefined, {
    error: ({ input }) => filePathProblem(String(input)) ?? '',
  })
  .describe('Path in /workspace: relative to it, or absolute under it.');
/** A session of any kind: files belong to its workspace. */
const anySession = id.describe('Id of a session; its sandbox is started when needed.');

/** Text and base64 alike fit the 4 MiB that a request may have. */
export const writeFileBytesMax = 3 * 1_048_576 - 65_536;

export const readFileArguments = closed({ session_id: anySession, path });
export const readFileResult = z.object({
  path: z.string().describe('Path from the request.'),
  size: z.int().describe('Size in bytes.'),
  mime_type: z.string().describe('Media type: text/plain, or that of the binary file.'),
  content: z
    .string()
    .optional()
    .describe(
      'Text of the file; absent for a binary file, which is an image or a resource beside the result.',
    ),
});

export const writeFileArguments = closed({
  session_id: anySession,
  path,
  content: z.string({ error: 'a text' }).describe('Complete new content.'),
  encoding: oneOf(['utf-8', 'base64'])
    .default('utf-8')
    .describe('Encoding of content: text, or the base64 of bytes.'),
});
export const writeFileResult = z.object({
  path: z.string().describe('Path from the request.'),
  size: z.int().describe('Size in bytes.'),
  created: z.boolean().describe('True: the file is new.'),
  message: z.string().describe('Summary for a person.'),
});

export const listFilesArguments = closed({
  session_id: anySession,
  path: path.default('.').describe('Path of a folder in /workspace; absent: /workspace itself.'),
});
export const listFilesResult = z.object({
  path: z.string().describe('Path from the request.'),
  files: z
    .array(
      z.object({
        name: z.string().describe('Name in the folder.'),
        type: z.string().describe('Type: file, directory, symlink or other.'),
        size: z.number().optional().describe('Size in bytes.'),
        modified_at: moment.optional(),
      }),
    )
    .describe('Entries of the folder, at most 10,000.'),
  truncated: z.literal(true).optional().describe('The folder has more.'),
});
