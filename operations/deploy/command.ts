/** A command for a person at a terminal: its flags, its help, its target, and a failure as one line with the next steps. */

import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { type Settings, settingsOf } from '../../infra/settings.ts';
import { type Aws, openAws } from './aws.ts';
import { Failure, type Programs } from './programs.ts';

type Flag = { readonly type: 'boolean'; readonly default: false };
type Flags<F extends string> = Readonly<Record<F | 'yes', boolean>>;

export type Command<F extends string> = {
  readonly usage: string;
  readonly flags: readonly F[];
  readonly run: (
    request: Flags<F> & { readonly target: Target; readonly programs: Programs; readonly terminal: Terminal },
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
export const runCommand = async <F extends string>(
  program: Command<F>,
  machine: Machine,
): Promise<number> => {
  const terminal = openTerminal(machine.input, machine.output);
  try {
    const { help, stage, region, ...flags } = readFlags(program, machine.args);
    if (help === true) {
      terminal.say(program.usage);
      return 0;
    }
    const at = { stage: String(stage), region: region as string | undefined, variables: machine.variables };
    const target = await findTarget(machine.open(machine.variables), at);
    // The CDK reads the region from the variables.
    const programs = machine.open({ ...machine.variables, AWS_REGION: target.region });
    await program.run({ ...(flags as Flags<F>), target, programs, terminal });
    return 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    machine.errors.write([error.message, ...error.next.map((step) => `  ${step}`), ''].join('\n'));
    return 1;
  }
};

const readFlags = <F extends string>({ flags, usage }: Command<F>, args: readonly string[]) => {
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

/** Output for a person, and questions to them. Without an answer there is no consent. */
export type Terminal = {
  readonly say: (line?: string) => void;
  /** True when the person types exactly this answer. */
  readonly agrees: (question: string, answer: string) => Promise<boolean>;
};

const openTerminal = (
  input: NodeJS.ReadableStream & { readonly isTTY?: boolean },
  output: NodeJS.WritableStream,
): Terminal => ({
  say: (line = '') => void output.write(`${line}\n`),
  agrees: async (question, answer) => {
    if (input.isTTY !== true)
      throw new Failure('there is no terminal to ask for consent', ['Give it in advance: add --yes.']);
    const terminal = createInterface({ input, output });
    try {
      return (await terminal.question(question)).trim() === answer;
    } finally {
      terminal.close();
    }
  },
});

/** The stage, the account and the region of a command, from flags, variables and the `aws` program. */
export type Target = {
  readonly stage: string;
  readonly settings: Settings;
  readonly account: string;
  readonly region: string;
  readonly aws: Aws;
};

type TargetRequest = {
  readonly stage: string;
  readonly region?: string | undefined;
  readonly variables: Readonly<Record<string, string | undefined>>;
};

const findTarget = async (
  programs: Programs,
  { stage, region, variables }: TargetRequest,
): Promise<Target> => {
  const settings = stageSettings(stage);
  const chosen =
    region ?? (variables['AWS_REGION'] || variables['AWS_DEFAULT_REGION']) ?? (await configured(programs));
  if (!chosen)
    throw new Failure('no region is chosen', ['Choose one: --region eu-central-1, or AWS_REGION.']);
  const aws = openAws(programs, chosen);
  const { Account } = await aws.ask<{ readonly Account: string }>('sts', 'get-caller-identity');
  return { stage, settings, account: Account, region: chosen, aws };
};

const stageSettings = (stage: string): Settings => {
  try {
    return settingsOf(stage);
  } catch (cause) {
    throw new Failure(
      cause instanceof Error ? cause.message : String(cause),
      ['Stages are in infra/settings.ts.'],
      cause,
    );
  }
};

/** A profile without a region exits with 1 and prints nothing. */
const configured = async (programs: Programs): Promise<string> =>
  (await programs.quiet('aws', ['configure', 'get', 'region'])).out.trim();
