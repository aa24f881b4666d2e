/**
 * A process of a sandbox: what starts one, as clients and the platform write it, and what the sandbox's server answers.
 */
import * as z from 'zod';
import { processSecondsMax, processWaitMsMax, terminalCellsMax } from '#shared/domain/limits.ts';
import { onFirstUse } from './on-first-use.ts';
import { programArguments, programCommand, programVariables, workingFolder } from './program-fields.ts';

const cells = z.int().min(1).max(terminalCellsMax);
export const terminalSize = z.object({ cols: cells, rows: cells });

export const program = {
  command: programCommand,
  args: programArguments.optional(),
  cwd: workingFolder.optional(),
  env: programVariables.optional().describe('Environment variables of this program.'),
};

/** Headers of what a frame brought: its connection, the time of its receipt, and its number if it has one. */
export const frameConnectionHeader = 'x-sallyport-connection';
export const frameTimeHeader = 'x-sallyport-frame-at';
export const frameOrderHeader = 'x-sallyport-frame-order';

/** The request of the platform to the sandbox's server. */
export const processStart = onFirstUse(() =>
  z.strictObject({
    /** The same id starts no second process. */
    id: z.uuid(),
    ...program,
    /** Base64. */
    stdin: z.base64().optional(),
    pty: terminalSize.optional(),
    timeoutMs: z
      .number()
      .min(1)
      .max(processSecondsMax * 1000)
      .optional(),
    waitMs: z.int().min(0).max(processWaitMsMax).optional(),
    /** From then on the wait ends early when a program wants the relay; absent: never. */
    relayAfterMs: z.int().min(0).max(processWaitMsMax).optional(),
  }),
);

export const signalNames = [
  ...(['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGKILL', 'SIGUSR1', 'SIGUSR2'] as const),
  ...(['SIGTERM', 'SIGCONT', 'SIGSTOP', 'SIGTSTP', 'SIGWINCH'] as const),
] as const;

/** In any case, with or without SIG, as the shell's `kill` takes it. Typed clients write the full name. */
const fullSignalName = (name: (typeof signalNames)[number]): unknown =>
  typeof name === 'string' ? name.toUpperCase().replace(/^(?!SIG)/, 'SIG') : name;

export const signal = z.preprocess(
  fullSignalName,
  z.enum(signalNames, { error: `use one of ${signalNames.join(', ')}` }),
);

export const signalBody = onFirstUse(() =>
  z.object({
    signal: z
      .enum(signalNames)
      .describe('Signal for the process group, or the foreground group of a terminal.'),
  }),
);

const processStates = ['running', 'exited', 'lost'] as const;

const count = onFirstUse(() => z.number().int().min(0));

/** One process, as the sandbox's server describes it. */
export const sandboxProcess = onFirstUse(() =>
  z.object({
    processId: z.uuid(),
    command: z.string(),
    state: z.enum(processStates),
    exitCode: z.number().int().nullable().optional(),
    signal: z.string().optional(),
    pid: count(),
    /** Epoch milliseconds, as every time here. */
    startedAt: count(),
    endedAt: count().optional(),
    isPty: z.boolean(),
    attached: count(),
  }),
);
export type SandboxProcess = z.output<ReturnType<typeof sandboxProcess>>;

export const sandboxProcesses = onFirstUse(() =>
  z.object({
    processes: z.array(sandboxProcess()),
    /** Calls that run: of tools, and programs whose client waits for their end. A sandbox of an earlier release does not say. */
    calls: count().default(0),
  }),
);

export const startedProcess = onFirstUse(() =>
  z.object({ processId: z.uuid(), pid: count(), startedAt: count() }),
);

/** The end of a process that was awaited, and what it printed. */
export const processResult = onFirstUse(() =>
  z.object({
    exitCode: z.number().int(),
    signal: z.string().nullable(),
    stdout: z.string(),
    stderr: z.string(),
    stdoutTruncated: z.boolean(),
    stderrTruncated: z.boolean(),
    durationMs: count(),
    killedFor: z.enum(['timeout', 'cancelled', 'memory', 'processes']).optional(),
    startFailure: z.string().optional(),
  }),
);
export type ProcessResult = z.output<ReturnType<typeof processResult>>;
