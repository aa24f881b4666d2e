/** Result of a program or of code as REST shows it, and its failure. */
import * as z from 'zod';

const failureAnswer = z
  .object({
    type: z.string().describe('Kind of failure, such as compilation_error or execution_timeout.'),
    message: z.string().describe('Error message of one line.'),
    suggestions: z.array(z.string()).describe('Suggestions for a reader.'),
    recoveryActions: z.array(z.string()).describe('Suggestions as names that a program can act on.'),
  })
  .meta({ id: 'ProgramFailure' });

export const programResult = {
  exitCode: z.number().int().describe('Exit code; 0: success.'),
  stdout: z.string(),
  stderr: z.string(),
  durationMs: z.number().min(0),
  stdoutTruncated: z.boolean().optional().describe('True: the middle of stdout was left out.'),
  stderrTruncated: z.boolean().optional().describe('True: the middle of stderr was left out.'),
  error: failureAnswer.optional().describe('Failure of the program; absent: it succeeded.'),
  notices: z.array(z.string()).optional().describe('Notices of files that were not restored or not saved.'),
};
