/** The programs that every sandbox of this cloud is given: Node, the bundled server and runner, filter, loader, a small /etc. */
import { chmod, constants, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleSandbox, filterFile } from '../../sandbox-task/bundle.ts';
import { elfInterpreterOf } from './elf-interpreter.ts';

const etc = {
  passwd: 'root:x:0:0:root:/:/usr/sbin/nologin\nsandbox:x:10001:10001:sandbox:/workspace:/bin/bash\n',
  group: 'root:x:0:\nsandbox:x:10001:\n',
  hosts: '127.0.0.1 localhost sandbox\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
};

export const writePrograms = async (folder: string): Promise<void> => {
  await mkdir(join(folder, 'etc', 'alternatives'), { recursive: true });
  await Promise.all([
    bundleSandbox(folder).then(() => copyFile(filterFile(folder, process.arch), join(folder, 'user.bpf'))),
    // The sandbox's user may not enter the folders that lead to this Node.
    copyFile(process.execPath, join(folder, 'node'), constants.COPYFILE_FICLONE),
    copyUnreadable(await elfInterpreterOf(process.execPath), join(folder, 'loader')),
    writeFile(join(folder, 'etc', 'ld.so.cache'), ''),
    ...Object.entries(etc).map(([name, text]) => writeFile(join(folder, 'etc', name), text)),
  ]);
};

/** Executable for everyone, readable for root alone: a process that it starts cannot be traced (execve(2), ptrace(2)). */
const copyUnreadable = async (from: string, to: string): Promise<void> => {
  await copyFile(from, to);
  await chmod(to, 0o111);
};
