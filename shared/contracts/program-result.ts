/**
 * The result of a program as a sandbox's tools report it. A sandbox is untrusted: only these fields are read, and only in
 * this form.
 */
import * as z from 'zod';

/** Results of one call of code: the displayed ones and the value (docs/spec/sandbox.md); more means a forged answer. */
const resultsMax = 9;
const mimeTypeCharactersMax = 200;

const amount = z.number().nonnegative();

const limitError = z.object({
  type: z.enum(['execution_timeout', 'resource_limit_exceeded', 'system_error', 'cancelled']),
  message: z.string(),
});

/** A name that the sandbox gave, since a person and a model read it. */
const outputFile = z.string().regex(/^\/workspace\/\.sallyport\/outputs\/[\w.-]{1,120}$/);

export const programResult = z.object({
  stdout: z.string(),
  stderr: z.string(),
  /** Null: it was killed. */
  exit_code: z.int().nullable(),
  execution_time_ms: amount,
  stdout_truncated: z.boolean().optional(),
  stderr_truncated: z.boolean().optional(),
  stdout_file: outputFile.optional(),
  stderr_file: outputFile.optional(),
  cpu_ms: amount.optional(),
  memory_peak_mb: amount.optional(),
  /** Variables of its interpreter from earlier calls are lost. */
  state_lost: z.boolean().optional(),
  signal: z.string().max(20).optional(),
  error_line: z.string().optional(),
  error: limitError.optional(),
  /** MIME bundles, of code alone. */
  results: z
    .array(z.record(z.string().max(mimeTypeCharactersMax), z.unknown()))
    .max(resultsMax)
    .optional(),
  results_left_out: z.int().nonnegative().optional(),
});
export type ReportedProgram = z.output<typeof programResult>;
