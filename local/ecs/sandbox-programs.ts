/** The programs that every sandbox gets: Node, the bundled server and runner, the filter, the loader and a small /etc. */
import { chmod, constants, copyFile, type FileHandle, mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleSandbox, filterFile } from '../../sandbox-task/bundle.ts';

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

const interpreterType = 3;
const headerBytes = 64;

/** The program that starts a dynamic executable: the loader of its C library (elf(5), PT_INTERP, in 64-bit files). */
const elfInterpreterOf = async (executable: string): Promise<string> => {
  await using file = await open(executable);
  const header = await read(file, 0, headerBytes);
  const size = header.readUInt16LE(54);
  const table = await read(file, Number(header.readBigUInt64LE(32)), size * header.readUInt16LE(56));
  for (let at = 0; at < table.length; at += size) {
    if (table.readUInt32LE(at) !== interpreterType) continue;
    const path = await read(
      file,
      Number(table.readBigUInt64LE(at + 8)),
      Number(table.readBigUInt64LE(at + 32)),
    );
    return path.toString().replace('\0', '');
  }
  throw new Error(`${executable} names no loader: sandboxes need a dynamically linked Node`);
};

const read = async (file: FileHandle, position: number, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
};
