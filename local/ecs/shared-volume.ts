/**
 * The shared volume: one folder of the host that all sandboxes read and write, and that outlives them.
 *
 * The start is refused for a path that is not a folder, for a folder that sandboxes cannot write, and for a guest path
 * that would hide a part of the sandbox. A folder that this process owns is opened to sandboxes: as root it gets a
 * group that only sandboxes have (mode 2775); for Docker, whose user is unknown here, it is writable for every user
 * (1777). It has no quota, and files that operators put there keep their owner and mode.
 */
import { spawnSync } from 'node:child_process';
import { chmod, chown, stat } from 'node:fs/promises';
import { isAbsolute, posix } from 'node:path';
import type { SharedVolume } from './running-sandbox.ts';
import { asIdentity, type Identities, sharedGid } from './sandbox-identity.ts';

const ownFolders = ['/workspace', '/tmp', '/usr', '/etc', '/proc', '/dev', '/run', '/opt'];
const links = ['/bin', '/sbin', '/lib', '/lib64'];

export const prepareSharedVolume = async (
  volume: SharedVolume,
  {
    name: isolation,
    identities,
  }: { readonly name: 'bubblewrap' | 'container'; readonly identities: Identities },
): Promise<void> => {
  const problem = guestPathProblem(volume.guestPath);
  if (problem !== undefined) throw new Error(problem);
  const { hostPath } = volume;
  if (!isAbsolute(hostPath)) throw new Error(hostPathProblem(hostPath, 'an absolute path'));
  const folder = await stat(hostPath).catch(() => undefined);
  if (!folder?.isDirectory()) throw new Error(hostPathProblem(hostPath, 'a folder that exists'));
  const isRoot = process.getuid?.() === 0;
  const isOurs = folder.uid === process.getuid?.();
  if (isOurs && isolation === 'container') await chmod(hostPath, 0o1777);
  if (isolation === 'container') return;
  if (isOurs && isRoot) {
    await chown(hostPath, folder.uid, sharedGid);
    await chmod(hostPath, 0o2775);
  }
  if (!isWritableForSandboxes(hostPath, identities))
    throw new Error(
      hostPathProblem(
        hostPath,
        'a folder that sandboxes can write: check the permissions of it and of its parent folders',
      ),
    );
};

const hostPathProblem = (hostPath: string, allowed: string): string =>
  `MSB_SHARED_VOLUME_PATH="${hostPath}" is not allowed: set it to ${allowed}`;

export const guestPathProblem = (guestPath: string): string | undefined => {
  const problem = (allowed: string): string =>
    `MSB_SHARED_VOLUME_GUEST_PATH="${guestPath}" is not allowed: set it to ${allowed}`;
  if (!posix.isAbsolute(guestPath)) return problem('an absolute path');
  if (guestPath !== posix.resolve(guestPath) || guestPath === '/')
    return problem('a plain path: no trailing slash, no dots, not the root');
  const hidden = [...ownFolders, ...links].find(
    (path) => guestPath === path || guestPath.startsWith(`${path}/`),
  );
  return hidden === undefined ? undefined : problem(`a path outside ${hidden}, which it would hide`);
};

/** Tests as a sandbox's user, since parent folders, mounts and access lists decide, too. */
const isWritableForSandboxes = (folder: string, identities: Identities): boolean => {
  const identity = identities.acquire(true);
  const [program = 'test', ...rest] = [
    ...(identity === undefined ? [] : asIdentity(identity)),
    ...['test', '-w', folder, '-a', '-x', folder],
  ];
  const { status } = spawnSync(program, rest, { stdio: 'ignore' });
  identities.release(identity);
  return status === 0;
};
