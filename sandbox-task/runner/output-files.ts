/**
 * The output of a call as files of the workspace, for a caller that is shown a part of it. A stream that stays short makes no
 * file. The first 64 MiB of a stream are stored; a file that cannot be written is left out of the result. The oldest files are removed
 * for new ones: a workspace that only grew by what programs print could not be saved in the end. Long results of an agent's tools, which
 * the platform writes beside them, count and give way like them.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import type { StreamName, StreamSummary, Surroundings } from '../wire/messages.ts';
import { namedPath } from '../wire/named-path.ts';

const fileBytesMax = 64 * 1024 * 1024;
/** Of all files of outputs, when one is added. */
const filesMax = 500;
const filesBytesMax = 512 * 1024 * 1024;
const folder = '.sallyport/outputs';
const ownName = /^[\da-f-]{36}\.(?:stdout|stderr)\.txt$/;
/** The key of the call of a tool or of a trial, whose last 100 characters are kept. */
const resultName = /^(?:(?:tool|trial)-[\w.-]{1,95}|[\w.-]{100})\.txt$/;

export type OutputFiles = { readonly open: (stream: StreamName) => OutputFile };
type OutputFile = {
  readonly push: (chunk: Buffer) => void;
  readonly close: () => Pick<StreamSummary, 'file'>;
};

export const outputFilesOf = ({
  workspace,
  storedOver,
}: Pick<Surroundings, 'storedOver'> & { readonly workspace: string }): OutputFiles | undefined => {
  if (storedOver === undefined) return undefined;
  const name = randomUUID();
  return {
    open: (stream) => openFile({ workspace, path: `${folder}/${name}.${stream}.txt`, storedOver }),
  };
};

type Place = { readonly workspace: string; readonly path: string; readonly storedOver: number };

const makeRoom = (place: string): void => {
  mkdirSync(place, { recursive: true });
  const files = readdirSync(place)
    .filter((name) => ownName.test(name) || resultName.test(name))
    .map((name) => ({ path: join(place, name), stat: lstatSync(join(place, name)) }))
    .toSorted((one, other) => other.stat.mtimeMs - one.stat.mtimeMs);
  let bytes = fileBytesMax;
  for (const [index, { path, stat }] of files.entries()) {
    bytes += stat.size;
    if (index + 1 >= filesMax || bytes > filesBytesMax) rmSync(path, { force: true });
  }
};

/** Before a file of the workspace is written: for the result of a tool, older outputs give way. */
export const makeRoomFor = (workspace: string, path: string): void => {
  const { dir, base } = posix.parse(namedPath(workspace, path));
  if (dir !== folder || !resultName.test(base)) return;
  try {
    makeRoom(join(workspace, folder));
  } catch {
    // User code made the folder something else: the write says so.
  }
};

const openFile = ({ workspace, path, storedOver }: Place): OutputFile => {
  let first: Buffer[] = [];
  let bytes = 0;
  let storedBytes = 0;
  let descriptor: number | undefined;
  let hasFailed = false;
  const write = (chunk: Buffer): void => {
    const kept = chunk.subarray(0, fileBytesMax - storedBytes);
    for (let at = 0; at < kept.length; ) at += writeSync(descriptor ?? -1, kept, at);
    storedBytes += kept.length;
  };
  const store = (chunk: Buffer): void => {
    if (descriptor !== undefined) {
      write(chunk);
      return;
    }
    first.push(Buffer.from(chunk));
    if (bytes <= storedOver) return;
    makeRoom(dirname(join(workspace, path)));
    descriptor = openSync(join(workspace, path), 'w');
    for (const piece of first) write(piece);
    first = [];
  };
  return {
    push: (chunk) => {
      bytes += chunk.length;
      if (hasFailed || storedBytes >= fileBytesMax) return;
      try {
        store(chunk);
      } catch {
        // The disk is full, or user code made the folder something else.
        hasFailed = true;
        first = [];
      }
    },
    close: () => {
      if (descriptor === undefined) return {};
      closeSync(descriptor);
      return hasFailed ? {} : { file: { path, bytes: storedBytes } };
    },
  };
};
