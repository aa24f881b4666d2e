/** What of an entry tells that it changed: of files, folders and links alike. */
import type { BigIntStats } from 'node:fs';
import type { Traits } from './file-index.ts';

/** Of an entry that is there and must be sent again: no stat is like this. */
export const unknownTraits: Traits = { ino: 0n, size: 0n, mtimeNs: 0n, ctimeNs: 0n, mode: 0n };

/** A folder's times and size change with its content, and only its mode is saved. */
export const traitsOf = (stat: BigIntStats): Traits =>
  stat.isDirectory() ? { ...unknownTraits, mode: stat.mode & 0o170777n } : stat;
