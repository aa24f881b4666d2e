/** What isolates the sandboxes of this machine: bubblewrap, or Docker where it cannot work. Nothing ever runs unisolated. */
import { spawnSync } from 'node:child_process';
import { startSandbox } from './bubblewrap-host.ts';
import { buildDockerImage, isDockerThere, startDockerSandbox } from './docker-host.ts';
import type { HostSettings, RunningSandbox, SandboxWish } from './running-sandbox.ts';
import { writePrograms } from './sandbox-programs.ts';

export type Isolation = {
  readonly name: 'bubblewrap' | 'docker';
  readonly prepare: (settings: HostSettings) => Promise<void>;
  readonly start: (settings: HostSettings, wish: SandboxWish) => Promise<RunningSandbox>;
};

const bubblewrap: Isolation = {
  name: 'bubblewrap',
  prepare: ({ programs }) => writePrograms(programs),
  start: startSandbox,
};

const docker: Isolation = { name: 'docker', prepare: buildDockerImage, start: startDockerSandbox };

export const chooseIsolation = (): Isolation => {
  if (isBubblewrapUsable()) return bubblewrap;
  if (isDockerThere()) return docker;
  throw new Error(
    'no sandbox can be isolated here: install bubblewrap ("sudo apt-get install bubblewrap") and allow user namespaces',
  );
};

const isBubblewrapUsable = (): boolean => {
  const probe = [
    ...['--unshare-user', '--unshare-pid', '--ro-bind', '/usr', '/usr'],
    ...['--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64'],
    ...['--proc', '/proc', '--', '/usr/bin/true'],
  ];
  return spawnSync('bwrap', probe, { stdio: 'ignore' }).status === 0;
};
