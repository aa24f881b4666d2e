/**
 * The arguments and results of the tools at `/mcp`, in the snake_case of their clients.
 *
 * What is advertised and what is parsed is one schema: it refuses unknown fields by name, says of a bad
 * value what is allowed, and never repeats the value.
 */
import * as z from 'zod';
import { type Flavor, flavors, templates } from '#shared/domain/flavor.ts';
import {
  clientIdCharactersMax,
  executionSecondsMax,
  placeWaitSecondsMax,
  tokenSecondsMax,
} from '#shared/domain/limits.ts';
import { utf8Bytes } from '#shared/domain/text.ts';

/** One argument of a program has at most 128 KiB with its NUL (execve(2), MAX_ARG_STRLEN). */
const programBytesMax = 120_000;
/** All of them, with the environment, have a quarter of the stack, 2 MiB (execve(2), ARG_MAX). */
const argumentsBytesMax = 1_048_576;
const argumentsMax = 1000;
/** It reaches its interpreter through a pipe. */
const codeBytesMax = 1_048_576;
const descriptionCharactersMax = 2000;
const timeoutSecondsDefault = 30;

const flavorNames = Object.keys(flavors) as Flavor[];

const oneOf = <const T extends string>(values: readonly T[]) =>
  z.enum(values as readonly [T, ...T[]], { error: `use one of ${values.join(', ')}` });

const text = (charactersMax: number) => {
  const error = `a text of 1 to ${charactersMax} characters`;
  return z.string({ error }).min(1, { error }).max(charactersMax, { error });
};

const seconds = (min: number, max: number) => {
  const error = `a number of seconds from ${min} to ${max}`;
  return z.number({ error }).min(min, { error }).max(max, { error });
};

const hasNoNul = (value: string): boolean => !value.includes('\0');
const noNul = { error: 'a text without NUL characters' };
const bytesOf = (values: readonly string[]): number =>
  values.reduce((bytes, value) => bytes + utf8Bytes(value), 0);

/** The bytes count, the characters are what a client can be told. */
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

/** Lower-cased before it is compared, so that `SMALL` is `small`. */
const flavor = z.preprocess(
  (value) => (typeof value === 'string' ? value.toLowerCase() : value),
  oneOf(flavorNames),
);
const template = oneOf(templates);
const sessionId = text(clientIdCharactersMax).describe('The id of an execution session.');
const projectId = text(clientIdCharactersMax).describe('The id of a project.');

const unknownNamedMax = 5;

/** Refuses what it does not know by name, and names what it does know. */
const closed = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return 'an object';
      const unknown = issue.keys
        .slice(0, unknownNamedMax)
        .map((key) => JSON.stringify(key.slice(0, clientIdCharactersMax)));
      return `unknown argument ${unknown.join(', ')}; allowed: ${Object.keys(shape).join(', ')}`;
    },
  });

const executionShape = {
  template: template.optional().describe('The language; absent: the one of the session.'),
  session_id: sessionId.optional().describe('The session to run in; absent: a new one.'),
  project_id: projectId.optional().describe('The project of a new session; absent: the default one.'),
  flavor: flavor.optional().describe('The size of a new session, in any case.'),
  timeout: seconds(1, executionSecondsMax)
    .default(timeoutSecondsDefault)
    .describe('Seconds until the program is killed.'),
  wait_seconds: seconds(0, placeWaitSecondsMax)
    .default(0)
    .describe('Seconds to wait for a place when all sessions are in use.'),
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

/** What both execution tools take besides the program. */
export type ExecutionArguments = Omit<z.output<typeof executeCodeArguments>, 'code'>;

const executionError = z.object({
  type: z.string(),
  message: z.string(),
  suggestions: z.array(z.string()),
  recovery_actions: z.array(z.string()),
});

export const executionResult = z.object({
  session_id: z.string(),
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.int(),
  execution_time_ms: z.number(),
  session_created: z.boolean(),
  error: executionError.optional(),
  stdout_truncated: z.boolean().optional(),
  stderr_truncated: z.boolean().optional(),
  state_lost: z.boolean().optional(),
  cpu_ms: z.number().optional(),
  memory_peak_mb: z.number().optional(),
  notices: z.array(z.string()).optional(),
});
export type ExecutionResult = z.output<typeof executionResult>;

export const getSessionsArguments = closed({ session_id: sessionId.optional() });
export const getSessionsResult = z.object({
  sessions: z.array(
    z.object({
      id: z.string(),
      language: z.string(),
      flavor: z.string(),
      status: z.string(),
      created_at: z.string(),
      last_accessed: z.string(),
      uptime_seconds: z.int(),
    }),
  ),
});

export const stopSessionArguments = closed({ session_id: sessionId });
export const stopSessionResult = z.object({
  session_id: z.string(),
  success: z.boolean(),
  message: z.string(),
});

export const getVolumePathArguments = closed({ session_id: sessionId.optional() });
export const getVolumePathResult = z.object({
  volume_path: z.string(),
  description: z.string(),
  available: z.boolean(),
});

export const createProjectArguments = closed({
  name: text(clientIdCharactersMax).describe('The name of a new project; it need not be unique.'),
  description: text(descriptionCharactersMax).optional(),
  flavor: flavor.optional().describe('The size of its sessions that ask for none.'),
  template: template.optional().describe('The language of its sessions that ask for none.'),
  flavors_allowed: z
    .array(flavor, { error: 'a list of flavors' })
    .min(1, { error: 'a list of at least one flavor' })
    .max(flavorNames.length, { error: `a list of at most ${flavorNames.length} flavors` })
    .optional()
    .describe('The sizes that its sessions may have; absent: all.'),
});
export const getProjectArguments = closed({ project_id: projectId });
export const listProjectsArguments = closed({
  after: text(clientIdCharactersMax * 4)
    .optional()
    .describe('What the page before gave as next.'),
});

export const projectResult = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  flavor: z.string().optional(),
  template: z.string().optional(),
  flavors_allowed: z.array(z.string()).optional(),
  created_at: z.string(),
});
export const listProjectsResult = z.object({
  projects: z.array(projectResult),
  next: z.string().optional(),
});

export const createTokenArguments = closed({
  name: text(clientIdCharactersMax).describe('What the token is for.'),
  scope: text(64).describe('admin, admin:ro, project:<uuid> or project:<uuid>:ro.'),
  expires_in_seconds: z.number().int().min(1).max(tokenSecondsMax).optional(),
});

export const createTokenResult = z.object({ id: z.string(), token: z.string(), scope: z.string() });

export const listTokensArguments = closed({ after: text(256).optional() });

export const tokenResult = z.object({
  id: z.string(),
  name: z.string(),
  scope: z.string(),
  token: z.string().describe('Masked.'),
  created_at: z.string(),
  expires_at: z.string().optional(),
});

export const listTokensResult = z.object({ tokens: z.array(tokenResult), next: z.string().optional() });

export const revokeTokenArguments = closed({ token_id: text(64).describe('The id of a token.') });
