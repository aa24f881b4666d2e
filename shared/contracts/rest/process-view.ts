/** Programs and processes of a sandbox as REST shows them. */
import * as z from 'zod';
import { execSecondsMax, processSecondsMax, toolTimeoutSeconds } from '#shared/domain/limits.ts';
import { queryFlag } from '../fields.ts';
import { program, signal, terminalSize } from '../process.ts';
import { programResult } from './program-result.ts';

export const execBody = z.object({
  ...program,
  stdin: z.string().optional().describe('Text for the standard input, which ends after it.'),
  timeoutSeconds: z
    .number()
    .min(1)
    .max(execSecondsMax)
    .default(toolTimeoutSeconds)
    .describe('Seconds until the program is killed.'),
});

export const startProcessBody = z.object({
  ...program,
  pty: terminalSize.optional().describe('Size of a terminal for the process; absent: it has none.'),
  timeoutSeconds: z
    .number()
    .min(1)
    .max(processSecondsMax)
    .optional()
    .describe('Seconds until the process is killed; absent: when its sandbox ends.'),
});

export const signalBody = z.object({
  signal: signal.describe('Signal for the process group; in a terminal for the foreground one.'),
});

export const resizeBody = terminalSize;

export const outputQuery = z.object({
  offset: z
    .string()
    .regex(/^\d{1,15}$/, 'is a number of bytes')
    .optional()
    .describe('First byte of the output to send; absent: 0.'),
  follow: queryFlag.prefault('1').describe('0: the answer ends with the output that there is.'),
});

export const inputQuery = z.object({
  eof: queryFlag.prefault('0').describe('1: closes the standard input afterwards.'),
});

export const execAnswer = z.object(programResult).meta({ id: 'ExecResult' });

const processId = z.uuid().describe('Id of the process.');

export const execContinues = z.object({ processId });

export const startedAnswer = z
  .object({
    processId,
    pid: z.number().int().min(0).describe('Number of the process in its sandbox.'),
    startedAt: z.iso.datetime(),
  })
  .meta({ id: 'StartedProcess' });

export const processAnswer = z
  .object({
    processId,
    command: z.string(),
    state: z
      .enum(['running', 'exited', 'lost'])
      .describe('State; lost: its sandbox ended, or all of its processes were killed.'),
    exitCode: z.number().int().optional(),
    isPty: z.boolean().describe('True: the process has a terminal.'),
    startedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'Process' });
export type ProcessView = z.output<typeof processAnswer>;

export const processesAnswer = z.object({ processes: z.array(processAnswer) });
