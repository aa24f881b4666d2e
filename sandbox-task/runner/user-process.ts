/**
 * A user process as it is started: marked, first in line when memory is short, with nothing of ours around it.
 *
 * User processes start with oom_score_adj 1000: the kernel takes them before anything of ours.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { markOption } from './call-processes.ts';

const userOomScore = 1000;
const runnerOomScore = 500;

/** Where user code lives. */
export type UserPlace = { readonly workspace: string; readonly sharedPath?: string | undefined };

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

/** `prlimit` sets the mark and replaces itself by the program; a program that is not there gives its 127. */
export const spawnMarked = (
  { argv, hasChannel = false, hasInput = false, cwd, variables = {}, ...place }: UserProgram,
  mark: number,
): ChildProcess => {
  // A child inherits the score at its fork, and the runner may lower its own again down to where it began.
  writeFileSync('/proc/self/oom_score_adj', String(userOomScore));
  try {
    return spawn('prlimit', [markOption(mark), '--', ...argv], {
      cwd: cwd ?? place.workspace,
      // A session of its own: `kill 0` in user code does not reach the runner.
      detached: true,
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(hasChannel ? (['pipe'] as const) : [])],
      env: { ...userEnvironment(place), ...variables, PATH: searchPath(variables) },
    });
  } finally {
    writeFileSync('/proc/self/oom_score_adj', String(runnerOomScore));
  }
};

const userPath = '/opt/sallyport/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A path of its own stands before ours: without ours `prlimit` would not be found. */
export const searchPath = ({ PATH }: Readonly<Record<string, string>>): string =>
  PATH === undefined ? userPath : `${PATH}:${userPath}`;

/** The whole environment of user code: nothing of ours is in it. */
const userEnvironment = ({ workspace, sharedPath }: UserPlace): Record<string, string> => ({
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
