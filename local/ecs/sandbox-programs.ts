/** What every sandbox of this cloud is given to run: Node, the bundled server and runner, the filter, a small /etc. */
import { constants, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleSandbox } from '../../sandbox-task/bundle.ts';
import { seccompFilter } from './seccomp.ts';

const etc = {
  passwd: 'root:x:0:0:root:/:/usr/sbin/nologin\nsandbox:x:10001:10001:sandbox:/workspace:/bin/bash\n',
  group: 'root:x:0:\nsandbox:x:10001:\n',
  hosts: '127.0.0.1 localhost sandbox\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
};

export const writePrograms = async (folder: string): Promise<void> => {
  await mkdir(join(folder, 'etc', 'alternatives'), { recursive: true });
  await Promise.all([
    bundleSandbox(folder),
    // The sandbox's user may not enter the folders that lead to this Node.
    copyFile(process.execPath, join(folder, 'node'), constants.COPYFILE_FICLONE),
    writeFile(join(folder, 'user.bpf'), seccompFilter(process.arch)),
    writeFile(join(folder, 'etc', 'ld.so.cache'), ''),
    ...Object.entries(etc).map(([name, text]) => writeFile(join(folder, 'etc', name), text)),
  ]);
};
