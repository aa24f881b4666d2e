/** A command for a person at a terminal: its flags, its help, its target, and a failure as one line with the next steps. */

import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import type { Settings } from '../../infra/settings.ts';
import { readSettings } from '../../infra/settings-file.ts';
import { type Aws, openAws } from './aws.ts';
import { Failure, openPrograms, type Programs } from './programs.ts';

type Flag = { readonly type: 'boolean'; readonly default: false };
type Flags<F extends string, V extends string> = Readonly<Record<F | 'yes', boolean>> &
  Readonly<Record<V, string | undefined>>;

/** `F` names its flags, `V` those of its options that have a value. */
export type Command<F extends string, V extends string = never> = {
  readonly usage: string;
  readonly flags: readonly F[];
  readonly values?: readonly V[];
  readonly run: (
    request: Flags<F, V> & {
      readonly target: Target;
      readonly programs: Programs;
      readonly terminal: Terminal;
    },
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
export const runCommand = async <F extends string, V extends string = never>(
  program: Command<F, V>,
  machine: Machine,
): Promise<number> => {
  const terminal = openTerminal(machine.input, machine.output);
  try {
    const { help, stage, region, settings, ...flags } = readFlags(program, machine.args);
    if (help === true) {
      terminal.say(program.usage);
      return 0;
    }
    const at = {
      stage: String(stage),
      region: region as string | undefined,
      settingsPath: (settings as string | undefined) ?? machine.variables['SALLYPORT_SETTINGS'],
      variables: machine.variables,
    };
    const target = await findTarget(machine.open(machine.variables), at);
    // The CDK reads the region from the variables.
    const programs = machine.open({ ...machine.variables, AWS_REGION: target.region });
    await program.run({ ...(flags as Flags<F, V>), target, programs, terminal });
    return 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    machine.errors.write([error.message, ...error.next.map((step) => `  ${step}`), ''].join('\n'));
    return 1;
  }
};

const readFlags = <F extends string, V extends string>(
  { flags, values = [], usage }: Command<F, V>,
  args: readonly string[],
) => {
  const off: Flag = { type: 'boolean', default: false };
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: off,
        yes: off,
        stage: { type: 'string', default: 'production' },
        region: { type: 'string' },
        settings: { type: 'string' },
        ...Object.fromEntries(flags.map((flag) => [flag, off])),
        ...Object.fromEntries(values.map((value) => [value, { type: 'string' as const }])),
      },
    }).values;
  } catch (cause) {
    throw new Failure(cause instanceof Error ? cause.message : String(cause), usage.split('\n'), cause);
  }
};

/** The command that the first argument names, for a person at this terminal; sets the exit code. */
export const runNamed = async (commands: Readonly<Record<string, (machine: Machine) => Promise<number>>>) => {
  const [name = '', ...args] = process.argv.slice(2);
  const run = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (run === undefined) throw new Error(`there is no command ${name}`);
  process.exitCode = await run({
    args,
    // biome-ignore lint/style/noProcessEnv: the one read of these programs' environment.
    variables: process.env,
    input: process.stdin,
    output: process.stdout,
    errors: process.stderr,
    open: openPrograms,
  });
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
      throw new Failure('there is no terminal to ask for confirmation', ['Add --yes to confirm in advance.']);
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
  /** The file of the settings, if there is one. */
  readonly settingsPath: string | undefined;
  readonly account: string;
  readonly region: string;
  readonly aws: Aws;
  /** The program that builds images. */
  readonly docker: string;
};

type TargetRequest = {
  readonly stage: string;
  readonly region?: string | undefined;
  readonly settingsPath?: string | undefined;
  readonly variables: Readonly<Record<string, string | undefined>>;
};

const findTarget = async (
  programs: Programs,
  { stage, region, settingsPath, variables }: TargetRequest,
): Promise<Target> => {
  const settings = stageSettings(stage, settingsPath);
  const chosen =
    region ??
    settings.region ??
    (variables['AWS_REGION'] || variables['AWS_DEFAULT_REGION']) ??
    (await configured(programs));
  if (!chosen)
    throw new Failure('no region is chosen', ['Choose one: --region eu-central-1, or AWS_REGION.']);
  const aws = openAws(programs, chosen);
  const { Account } = await aws.ask<{ readonly Account: string }>('sts', 'get-caller-identity');
  requirePinned(settings, { account: Account, region: chosen });
  const docker = variables['CDK_DOCKER'] || 'docker';
  return { stage, settings, settingsPath, account: Account, region: chosen, aws, docker };
};

/** A profile of another account, or another region, is no target of a stage that names its own. */
const requirePinned = (settings: Settings, found: Record<'account' | 'region', string>): void => {
  for (const field of ['account', 'region'] as const) {
    const wanted = settings[field];
    if (wanted !== undefined && wanted !== found[field])
      throw new Failure(`the stage belongs to ${field} ${wanted}, and this is ${found[field]}`, [
        'Use the profile and region of the stage: AWS_PROFILE, --region.',
      ]);
  }
};

const stageSettings = (stage: string, path: string | undefined): Settings => {
  try {
    return readSettings(stage, path);
  } catch (cause) {
    throw new Failure(
      cause instanceof Error ? cause.message : String(cause),
      ['Stages are in infra/settings.ts; a file of settings is described in docs/deploy.md.'],
      cause,
    );
  }
};

/** A profile without a region exits with 1 and prints nothing. */
const configured = async (programs: Programs): Promise<string> =>
  (await programs.quiet('aws', ['configure', 'get', 'region'])).out.trim();

/** A home folder that the shell has not replaced, as in `--to=~/copy`, is meant. */
export const folderNamed = (named: string | undefined, flag: string): string => {
  if (named === undefined) throw new Failure('no folder is named', [`Name one: ${flag} <folder>.`]);
  return resolve(named.replace(/^~(?=\/|$)/, homedir()));
};
