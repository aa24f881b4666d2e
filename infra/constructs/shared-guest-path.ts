/** Where sandboxes may see a volume that they share: nowhere it would hide a part of the sandbox. */
import { posix } from 'node:path';
import { writableFolders } from './sandbox-definition.ts';

/** Where a volume would hide a part of the sandbox. */
const taken = [
  ...Object.values(writableFolders),
  ...['/bin', '/dev', '/etc', '/lib', '/opt', '/proc', '/run', '/sbin', '/sys', '/usr', '/var'],
];

export const refuseGuestPath = (path: string | undefined): void => {
  if (path === undefined) return;
  if (path !== posix.resolve(path) || path === '/')
    throw new Error(
      `MSB_SHARED_VOLUME_GUEST_PATH=${path} is not plain: no dots, no slash at its end, not the root`,
    );
  const hidden = taken.find((folder) => path === folder || path.startsWith(`${folder}/`));
  if (hidden !== undefined) throw new Error(`MSB_SHARED_VOLUME_GUEST_PATH=${path} collides with ${hidden}`);
};
