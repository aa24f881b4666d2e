/**
 * Receives a checkpoint of a workspace: its entries, and new contents in one pack as they come.
 *
 * The sandbox is not trusted: hashes are computed here, the bounds hold here too, a path stays in the workspace below
 * a folder that came before it, and a file counts as unchanged only if the base has it.
 */
import { createHash, type Hash } from 'node:crypto';
import type { ArchiveFrame, ArchiveHeader } from '#shared/contracts/archive.ts';
import {
  isPlainPath,
  type LeftOut,
  type ManifestEntry,
  workspaceBytesMax,
  workspaceEntriesMax,
} from '#shared/domain/checkpoint.ts';
import { AppError } from '#shared/errors.ts';
import { type FileEntry, manifestBytesMax } from './manifest.ts';

type Base = { readonly entries: readonly ManifestEntry[] } | undefined;

type PackSink = {
  readonly id: string;
  readonly append: (bytes: Uint8Array) => Promise<void>;
};

export type ReceivedCheckpoint = {
  readonly entries: readonly ManifestEntry[];
  readonly leftOut: readonly LeftOut[];
  /** The whole pack, with bytes that no entry points to. */
  readonly packBytes: number;
  /** Files whose content came. */
  readonly sentFiles: number;
};

type FileHeader = Extract<ArchiveHeader, { type: 'file' }>;
type FileEnd = Extract<ArchiveHeader, { type: 'file-end' }>;
type OpenFile = {
  readonly header: FileHeader;
  readonly offset: number;
  readonly hash: Hash;
  size: number;
};

type Receipt = {
  readonly sink: PackSink;
  baseFiles: ReadonlyMap<string, FileEntry>;
  readonly entries: ManifestEntry[];
  readonly leftOut: LeftOut[];
  readonly types: Map<string, ManifestEntry['type']>;
  phase: 'before' | 'within' | 'after';
  file: OpenFile | undefined;
  packBytes: number;
  sentFiles: number;
  workspaceBytes: number;
  manifestBytes: number;
};

/** The size of an entry in a manifest besides its path: names, numbers, a hash, a pack. */
const entryBytesMax = 320;

/** Throws an `AppError` when the archive is refused, any other error when it broke off. */
export const receiveCheckpoint = async (
  frames: AsyncIterable<ArchiveFrame>,
  base: Base,
  sink: PackSink,
): Promise<ReceivedCheckpoint> => {
  const receipt: Receipt = {
    sink,
    baseFiles: new Map(filesOf(base).map((file) => [file.path, file])),
    entries: [],
    leftOut: [],
    types: new Map(),
    phase: 'before',
    file: undefined,
    packBytes: 0,
    sentFiles: 0,
    workspaceBytes: 0,
    manifestBytes: 0,
  };
  for await (const frame of frames) await receiveFrame(receipt, frame);
  if (receipt.phase !== 'after') throw new Error('the archive ends without its end');
  const { entries, leftOut, packBytes, sentFiles } = receipt;
  return { entries, leftOut, packBytes, sentFiles };
};

const filesOf = (base: Base): FileEntry[] => (base?.entries ?? []).filter((entry) => entry.type === 'file');

const receiveFrame = async (receipt: Receipt, { header, payload }: ArchiveFrame): Promise<void> => {
  refuseDisorder(receipt, header.type);
  switch (header.type) {
    case 'begin':
      receipt.phase = 'within';
      // A sandbox that does not know the base can call nothing unchanged.
      if (header.isFull) receipt.baseFiles = new Map();
      return;
    case 'directory':
      return addEntry(receipt, { type: 'directory', path: header.path, mode: header.mode });
    case 'symlink':
      return addEntry(receipt, { type: 'symlink', path: header.path, target: header.target });
    case 'file':
      return header.same ? addSame(receipt, header) : openFile(receipt, header);
    case 'data':
      return addData(receipt, payload);
    case 'file-end':
      return closeFile(receipt, header);
    case 'left-out':
      return leaveOut(receipt, { path: header.path, reason: header.reason });
    case 'removed':
      throw malformed('a workspace names no removed entries');
    case 'end':
      receipt.phase = 'after';
      return;
  }
};

const refuseDisorder = ({ phase, file }: Receipt, type: ArchiveHeader['type']): void => {
  const expected = type === 'begin' ? 'before' : 'within';
  const isOfFile = type === 'data' || type === 'file-end';
  if (phase !== expected || isOfFile !== (file !== undefined))
    throw malformed(`a frame ${type} is out of place`);
};

const malformed = (problem: string): AppError =>
  new AppError('invalid_request', `the sandbox sent an invalid archive: ${problem}`);

const addEntry = (receipt: Receipt, entry: ManifestEntry): void => {
  addPath(receipt, entry.path, entry.type);
  countEntry(receipt, entry.path, entry.type === 'symlink' ? entry.target : '');
  receipt.entries.push(entry);
};

const addPath = ({ types }: Receipt, path: string, type: ManifestEntry['type']): void => {
  const segments = path.split('/');
  if (!isPlainPath(path)) throw malformed('a path leads out of the workspace');
  if (types.has(path)) throw malformed('a path comes twice');
  if (segments.length > 1 && types.get(segments.slice(0, -1).join('/')) !== 'directory')
    throw malformed('a path comes before its folder');
  types.set(path, type);
};

const countEntry = (receipt: Receipt, ...texts: readonly string[]): void => {
  receipt.manifestBytes += entryBytesMax + Buffer.byteLength(JSON.stringify(texts));
  if (receipt.entries.length + receipt.leftOut.length >= workspaceEntriesMax)
    throw tooLarge(`more than ${workspaceEntriesMax} files and folders`);
  if (receipt.manifestBytes > manifestBytesMax) throw tooLarge('too many long names');
};

const countBytes = (receipt: Receipt, bytes: number): void => {
  receipt.workspaceBytes += bytes;
  if (receipt.workspaceBytes > workspaceBytesMax) throw tooLarge(`more than ${workspaceBytesMax} bytes`);
};

const tooLarge = (excess: string): AppError =>
  new AppError('resource_limit_exceeded', `the workspace is too large to be saved: ${excess}`);

/** The name and times are the sandbox's; the content is where the base has it. */
const addSame = (receipt: Receipt, { path, mode, mtimeMs, size }: FileHeader): void => {
  const known = receipt.baseFiles.get(path);
  if (known === undefined || known.size !== size)
    throw malformed('a file is called unchanged, and the base does not have it so');
  countBytes(receipt, size);
  addEntry(receipt, { ...known, mode, mtimeMs });
};

const openFile = (receipt: Receipt, header: FileHeader): void => {
  addPath(receipt, header.path, 'file');
  countEntry(receipt, header.path);
  receipt.sentFiles += 1;
  receipt.file = { header, offset: receipt.packBytes, hash: createHash('sha256'), size: 0 };
};

const addData = async (receipt: Receipt, payload: Uint8Array): Promise<void> => {
  const { file, sink } = receipt;
  if (file === undefined) return;
  countBytes(receipt, payload.length);
  file.hash.update(payload);
  file.size += payload.length;
  receipt.packBytes += payload.length;
  await sink.append(payload);
};

const closeFile = (receipt: Receipt, { size, isWhole }: FileEnd): void => {
  const { file } = receipt;
  if (file === undefined) return;
  receipt.file = undefined;
  const { path, mode, mtimeMs } = file.header;
  if (!isWhole) {
    leaveOut(receipt, { path, reason: 'it changed while it was read' });
    return;
  }
  if (size !== file.size) throw malformed('a file has another length than its end frame');
  const where = size === 0 ? { pack: '', offset: 0 } : { pack: receipt.sink.id, offset: file.offset };
  const sha256 = file.hash.digest('hex');
  receipt.entries.push({ type: 'file', path, mode, mtimeMs, size, sha256, ...where });
};

const leaveOut = (receipt: Receipt, entry: LeftOut): void => {
  countEntry(receipt, entry.path, entry.reason);
  receipt.leftOut.push(entry);
};
