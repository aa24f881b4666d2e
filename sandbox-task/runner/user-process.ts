/**
 * A user process as it is started: marked, first in line when memory is short, with nothing of ours around it.
 *
 * The kernel takes user processes before anything of ours: their oom_score_adj is 1000. Where they may write to
 * /proc they set it at their start, and may lower it again; otherwise the server does (server/user-scores.ts).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { userOomScore } from '../wire/messages.ts';
import { markOption } from './call-processes.ts';

/** Where user code lives. */
export type UserPlace = {
  readonly workspace: string;
  readonly sharedPath?: string | undefined;
  /** The Node of user code. */
  readonly nodePath: string;
  readonly isProcWritable: boolean;
};

export type UserProgram = UserPlace & {
  readonly argv: readonly string[];
  /** A duplex pipe of ours as descriptor 3. */
  readonly hasChannel?: boolean;
  /** A pipe as stdin, which is empty otherwise. */
  readonly hasInput?: boolean;
  /** Where it starts, if not in the workspace. */
  readonly cwd?: string;
  /** More than what all user code has, or instead of it. */
  readonly variables?: Readonly<Record<string, string>>;
};

/**
 * `prlimit` sets the mark, `choom` the score; each replaces itself by what follows. A program that is not there
 * gives the 127 of prlimit.
 */
export const spawnMarked = (
  { argv, hasChannel = false, hasInput = false, cwd, variables = {}, ...place }: UserProgram,
  mark: number,
): ChildProcess => {
  const score = place.isProcWritable ? ['choom', '-n', String(userOomScore), '--'] : [];
  const [program = '', ...rest] = [...score, 'prlimit', markOption(mark), '--', ...argv];
  return spawn(program, rest, {
    cwd: cwd ?? place.workspace,
    // A session of its own: `kill 0` in user code does not reach the runner.
    detached: true,
    stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(hasChannel ? (['pipe'] as const) : [])],
    env: { ...userEnvironment(place), ...variables, PATH: searchPath(variables) },
  });
};

const userPath = '/opt/sallyport/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A path of its own stands before ours: without ours `prlimit` would not be found. */
export const searchPath = ({ PATH }: Readonly<Record<string, string>>): string =>
  PATH === undefined ? userPath : `${PATH}:${userPath}`;

/** The whole environment of user code: nothing of ours is in it. */
const userEnvironment = ({
  workspace,
  sharedPath,
}: Pick<UserPlace, 'workspace' | 'sharedPath'>): Record<string, string> => ({
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
});
