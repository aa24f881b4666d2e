/**
 * The start of a user process: marked, first in line when memory is short, without anything of the platform around it;
 * or the refusal of a program that cannot be started, in the words and codes of a shell (POSIX, 2.8.2).
 *
 * The kernel takes user processes before the platform's own: their oom_score_adj is 1000. Where they may write to /proc
 * they set it at their start, and may lower it again; elsewhere the server does (server/user-processes.ts).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { PlatformVariable } from '#shared/domain/session-environment.ts';
import { type ProgramDefaults, userOomScore } from '../wire/messages.ts';
import { markOption } from './call-processes.ts';
import { networkVariables, trustVariables } from './network-variables.ts';
import { closeWriters, prepareOutputPipes, takeOutputPipes } from './output-pipes.ts';

/** The folders of user code, and the programs that it gets. */
export type SandboxPaths = {
  readonly workspace: string;
  readonly sharedPath?: string | undefined;
  /** The Node of user code. */
  readonly nodePath: string;
  readonly isProcWritable: boolean;
  /** The port of the proxy; null: there is none. */
  readonly proxyPort: number | null;
};

type UserProgram = SandboxPaths & {
  readonly argv: readonly string[];
  /** A duplex pipe of ours as descriptor 3. */
  readonly hasChannel?: boolean;
  /** A pipe as stdin, which is empty otherwise. */
  readonly hasInput?: boolean;
  /** Its working folder, if not the workspace. */
  readonly cwd?: string;
  /** More than what all user code has, or instead of it. */
  readonly variables?: Readonly<Record<string, string>>;
};

/**
 * `prlimit` sets the mark, `choom` the score; each replaces itself by what follows. A program that is not there
 * gives the 127 of prlimit.
 */
export const spawnMarked = (
  { argv, hasChannel = false, hasInput = false, cwd, variables = {}, ...paths }: UserProgram,
  mark: number,
): ChildProcess => {
  const score = paths.isProcWritable ? ['choom', '-n', String(userOomScore), '--'] : [];
  const [program = '', ...rest] = [...score, 'prlimit', markOption(mark), '--', ...argv];
  const pipes = takeOutputPipes();
  try {
    const child = spawn(program, rest, {
      cwd: cwd ?? defaultFolder(paths.workspace),
      // A session of its own: `kill 0` in user code does not reach the runner.
      detached: true,
      stdio: [
        hasInput ? 'pipe' : 'ignore',
        pipes?.stdout.writer ?? 'pipe',
        pipes?.stderr.writer ?? 'pipe',
        ...(hasChannel ? (['pipe'] as const) : []),
      ],
      env: {
        ...userEnvironment(paths),
        ...(defaults.hasAuthority ? trustVariables() : {}),
        ...defaults.variables,
        ...variables,
        PATH: searchPath(variables),
      },
    });
    return pipes === undefined
      ? child
      : Object.assign(child, { stdout: pipes.stdout.reader, stderr: pipes.stderr.reader });
  } finally {
    if (pipes !== undefined) closeWriters(pipes);
    prepareOutputPipes();
  }
};

let defaults: Omit<ProgramDefaults, 'cwd'> & { readonly folder?: string } = { variables: {} };

/** For every program that starts from now on. A folder in the workspace is made. */
export const setDefaults = (workspace: string, { cwd, ...given }: ProgramDefaults): void => {
  const folder = cwd === undefined ? undefined : resolve(workspace, cwd);
  if (folder?.startsWith(`${workspace}/`)) tryMakeFolder(folder);
  defaults = { ...given, ...(folder === undefined ? {} : { folder }) };
};

/** Something else may stand there: then programs begin in the workspace. */
const tryMakeFolder = (folder: string): void => {
  try {
    mkdirSync(folder, { recursive: true });
  } catch {
    // As said above.
  }
};

/** The session's, while it is there. */
export const defaultFolder = (workspace: string): string => {
  const { folder = workspace } = defaults;
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? folder : workspace;
};

const userPath = '/opt/sallyport/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A path of its own stands before ours: without ours `prlimit` would not be found. */
export const searchPath = ({ PATH }: Readonly<Record<string, string>>): string =>
  PATH === undefined ? userPath : `${PATH}:${userPath}`;

/** The platform's part of the environment of every program: nothing of ours is in it. */
const userEnvironment = ({
  workspace,
  sharedPath,
  proxyPort,
}: Pick<SandboxPaths, 'workspace' | 'sharedPath' | 'proxyPort'>): Partial<
  Record<PlatformVariable, string>
> => ({
  PATH: userPath,
  HOME: workspace,
  LANG: 'C.UTF-8',
  TMPDIR: '/tmp',
  USER: 'sandbox',
  SHELL: '/bin/bash',
  // A folder that was made to look like a repository, one file by the other, is none unless it is named
  // (https://git-scm.com/docs/git-config#Documentation/git-config.txt-safebareRepository).
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.bareRepository',
  GIT_CONFIG_VALUE_0: 'explicit',
  ...(sharedPath === undefined ? {} : { SHARED_VOLUME_PATH: sharedPath }),
  ...(proxyPort === null || !defaults.hasNetwork ? {} : networkVariables(proxyPort)),
});

const nameCharactersMax = 200;

/** Nothing when a program can be started in the folder, which is named as the caller did. */
export const refuseFolder = (
  folder: string,
  named: string = folder,
): { readonly exitCode: 126; readonly message: string } | undefined => {
  try {
    if (!statSync(folder).isDirectory()) return noFolder(named, 'Not a directory');
    accessSync(folder, constants.X_OK);
    return undefined;
  } catch (error) {
    const isDenied = (error as NodeJS.ErrnoException).code === 'EACCES';
    return noFolder(named, isDenied ? 'Permission denied' : 'No such file or directory');
  }
};

const noFolder = (name: string, reason: string) =>
  ({ exitCode: 126, message: `cwd: ${name.slice(0, nameCharactersMax)}: ${reason}\n` }) as const;

/** Nothing when it can be started in this folder. */
export const refuseProgram = (
  program: string,
  folder: string,
  path: string = searchPath({}),
): { readonly exitCode: 126 | 127; readonly message: string } | undefined => {
  const isPath = program.includes('/');
  const candidates = isPath
    ? [resolve(folder, program)]
    : path.split(':').map((searched) => resolve(folder, searched, program));
  const kinds = candidates.map(kindOf);
  if (program !== '' && kinds.includes('program')) return undefined;
  const name = program.slice(0, nameCharactersMax);
  if (program !== '' && kinds.includes('denied'))
    return { exitCode: 126, message: `${name}: Permission denied\n` };
  return {
    exitCode: 127,
    message: `${name}: ${isPath ? 'No such file or directory' : 'command not found'}\n`,
  };
};

const kindOf = (path: string): 'program' | 'denied' | 'absent' => {
  try {
    if (!statSync(path).isFile()) return 'denied';
    accessSync(path, constants.X_OK);
    return 'program';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'denied' : 'absent';
  }
};
