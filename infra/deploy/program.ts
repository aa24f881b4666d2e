/** A program for a person at a terminal: its flags, its help, and its failures in a line each with what to do next. */
import { parseArgs } from 'node:util';
import { type Conversation, openConversation } from './conversation.ts';
import { Failure } from './failure.ts';
import type { Programs } from './programs.ts';
import { findTarget, type Target } from './target.ts';

type Flag = { readonly type: 'boolean'; readonly default: false };
type Flags<F extends string> = Readonly<Record<F | 'yes', boolean>>;

export type Program<F extends string> = {
  readonly usage: string;
  readonly flags: readonly F[];
  readonly run: (
    wish: Flags<F> & { readonly target: Target; readonly programs: Programs; readonly person: Conversation },
  ) => Promise<void>;
};

export type Machine = {
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
  readonly errors: NodeJS.WritableStream;
  readonly open: (variables: Machine['variables']) => Programs;
};

/** The exit code. */
export const runProgram = async <F extends string>(
  program: Program<F>,
  machine: Machine,
): Promise<number> => {
  const person = openConversation(machine.input, machine.output);
  try {
    const { help, stage, region, ...flags } = readFlags(program, machine.args);
    if (help === true) {
      person.say(program.usage);
      return 0;
    }
    const at = { stage: String(stage), region: region as string | undefined, variables: machine.variables };
    const target = await findTarget(machine.open(machine.variables), at);
    // The CDK asks the variables where to.
    const programs = machine.open({ ...machine.variables, AWS_REGION: target.region });
    await program.run({ ...(flags as Flags<F>), target, programs, person });
    return 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    machine.errors.write([error.message, ...error.next.map((step) => `  ${step}`), ''].join('\n'));
    return 1;
  }
};

const readFlags = <F extends string>({ flags, usage }: Program<F>, args: readonly string[]) => {
  const off: Flag = { type: 'boolean', default: false };
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: off,
        yes: off,
        stage: { type: 'string', default: 'production' },
        region: { type: 'string' },
        ...Object.fromEntries(flags.map((flag) => [flag, off])),
      },
    }).values;
  } catch (cause) {
    throw new Failure(cause instanceof Error ? cause.message : String(cause), usage.split('\n'), cause);
  }
};
