/** The answer to a program that was run to its end. */
import type * as z from 'zod';
import type { ProgramOutcome } from '#shared/application/process/run-program.ts';
import type { execAnswer } from '#shared/contracts/rest/process-view.ts';

type Ended = Extract<ProgramOutcome, { status: 'ended' }>;

export const execView = ({ result, failure, notices }: Ended): z.output<typeof execAnswer> => {
  const { exitCode, stdout, stderr, durationMs, stdoutTruncated, stderrTruncated } = result;
  return {
    ...{ exitCode, stdout, stderr, durationMs },
    ...(stdoutTruncated ? { stdoutTruncated } : {}),
    ...(stderrTruncated ? { stderrTruncated } : {}),
    ...(failure === undefined
      ? {}
      : {
          error: {
            type: failure.type,
            message: failure.message,
            suggestions: [...failure.suggestions],
            recoveryActions: [...failure.recoveryActions],
          },
        }),
    ...(notices.length === 0 ? {} : { notices: [...notices] }),
  };
};
