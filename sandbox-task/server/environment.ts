/**
 * The server's settings: every variable it reads, parsed once at start; a bad one stops the start.
 *
 * The task definition and the local host write them, RunTask adds the bearer's hash and the memory. None
 * of them reaches user code.
 */
import { isAbsolute } from 'node:path';
import * as z from 'zod';

const absolutePath = z.string().refine((path) => isAbsolute(path), 'must be an absolute path');
const listen = z.union([
  z.templateLiteral(['unix:', absolutePath]).transform((text) => ({ path: text.slice('unix:'.length) })),
  z
    .string()
    .regex(/^tcp:\/\/[0-9.]+:\d{1,5}$/, 'must be tcp://<address>:<port> or unix:<path>')
    .transform((text) => {
      const { hostname, port } = new URL(text);
      return { host: hostname, port: Number(port) };
    }),
]);
const argv = z.array(z.string()).min(1, 'must name the program that gives the user identity');

export const environment = z.object({
  SANDBOX_LISTEN: listen,
  /** The server knows the bearer only by its SHA-256, so that its memory holds no usable token. */
  SANDBOX_BEARER_SHA256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits'),
  /** A JSON array of arguments that the runner's command line is appended to. */
  SANDBOX_USER_LAUNCHER: z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue('must be a JSON array');
        return z.NEVER;
      }
    })
    .pipe(argv),
  /** The memory limit of user code, for messages; enforced by the cgroup. */
  SANDBOX_MEMORY_MB: z.coerce.number().int().positive().default(512),
  SANDBOX_PROCESSES_MAX: z.coerce.number().int().positive().default(256),
  /** The folder of the memory counters of user code's cgroup; without it the runner counts. */
  SANDBOX_CGROUP: absolutePath.optional(),
  /** True if user code may write to /proc; where it may not, the server sets the scores of its processes. */
  SANDBOX_PROC: z.enum(['writable', 'read-only']).default('writable'),
  SANDBOX_WORKSPACE: absolutePath.default('/workspace'),
  /** A mounted folder that user code shares with its owner's other sandboxes. */
  SANDBOX_SHARED_PATH: absolutePath.optional(),
});

export type Environment = z.output<typeof environment>;

/** Throws one line that names each bad variable. */
export const readEnvironment = (variables: Readonly<Record<string, string | undefined>>): Environment => {
  const parsed = environment.safeParse(variables);
  if (parsed.success) return parsed.data;
  const complaints = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(complaints.join('; '));
};
