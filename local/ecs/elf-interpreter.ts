/**
 * The program that a dynamic executable names to be started by: the loader of its C library.
 *
 * From the header of a 64-bit ELF file and its table of program headers (elf(5), PT_INTERP).
 */
import { type FileHandle, open } from 'node:fs/promises';

const interpreterType = 3;
const headerBytes = 64;

export const elfInterpreterOf = async (executable: string): Promise<string> => {
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
  throw new Error(`${executable} names no loader: sandboxes need a Node that is linked dynamically`);
};

const read = async (file: FileHandle, position: number, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
};
