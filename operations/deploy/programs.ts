/** Programs on the PATH, run quietly for their output or visibly for a person, and the failure that ends a command. */
import { spawn } from 'node:child_process';

export type Outcome = { readonly code: number; readonly out: string; readonly error: string };

export type Programs = {
  readonly quiet: (program: string, args: readonly string[]) => Promise<Outcome>;
  /** Its output goes to the terminal; returns the exit code. */
  readonly shown: (program: string, args: readonly string[]) => Promise<number>;
};

type Variables = Readonly<Record<string, string | undefined>>;

/** Sources of programs that may be missing. */
const sources: Readonly<Record<string, string>> = {
  aws: 'https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html',
  docker: 'https://docs.docker.com/engine/install/',
  cdk: 'npm ci',
};

export const openPrograms = (variables: Variables): Programs => ({
  quiet: (program, args) => {
    const child = spawn(program, args, { env: { ...variables }, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, error]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (bytes: Buffer) => out.push(bytes));
    child.stderr.on('data', (bytes: Buffer) => error.push(bytes));
    return new Promise((resolve, reject) => {
      child.once('error', (cause) => reject(missing(program, cause)));
      child.once('close', (code) =>
        resolve({
          code: code ?? 1,
          out: Buffer.concat(out).toString(),
          error: Buffer.concat(error).toString(),
        }),
      );
    });
  },
  shown: (program, args) => {
    const child = spawn(program, args, { env: { ...variables }, stdio: ['ignore', 'inherit', 'inherit'] });
    return new Promise((resolve, reject) => {
      child.once('error', (cause) => reject(missing(program, cause)));
      child.once('close', (code) => resolve(code ?? 1));
    });
  },
});

const missing = (program: string, cause: Error): Failure =>
  new Failure(
    `${program} does not start: ${cause.message}`,
    [`Install it: ${sources[program] ?? program}`],
    cause,
  );

/** An expected failure: one line about its cause, and the next steps. Any other error is a bug. */
export class Failure extends Error {
  readonly next: readonly string[];

  constructor(message: string, next: readonly string[] = [], cause?: unknown) {
    super(message, { cause });
    this.name = 'Failure';
    this.next = next;
  }
}
