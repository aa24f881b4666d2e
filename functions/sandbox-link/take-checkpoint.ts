/**
 * Reads a sandbox's archive and says what a checkpoint of it holds; new contents go to one pack as they come.
 *
 * The sandbox is not believed: the hashes are computed here, the bounds hold here too, a path stays inside
 * the workspace below a folder that came before it, and "as it was" counts only for what the base has.
 */
import { createHash, type Hash } from 'node:crypto';
import type { ArchiveFrame, ArchiveHeader } from '#shared/contracts/archive.ts';
import {
  type LeftOut,
  type ManifestEntry,
  workspaceBytesMax,
  workspaceEntriesMax,
} from '#shared/domain/checkpoint.ts';
import { AppError } from '#shared/errors.ts';
import { type FileEntry, manifestBytesMax } from './manifest.ts';

export type Base = { readonly entries: readonly ManifestEntry[] } | undefined;

export type PackSink = {
  readonly id: string;
  readonly append: (bytes: Uint8Array) => Promise<void>;
};

export type Taken = {
  readonly entries: readonly ManifestEntry[];
  readonly leftOut: readonly LeftOut[];
  /** All of the pack, also what no entry points to. */
  readonly packBytes: number;
};

type FileHeader = Extract<ArchiveHeader, { type: 'file' }>;
type FileEnd = Extract<ArchiveHeader, { type: 'file-end' }>;
type OpenFile = {
  readonly header: FileHeader;
  readonly offset: number;
  readonly hash: Hash;
  size: number;
};

type Intake = {
  readonly sink: PackSink;
  baseFiles: ReadonlyMap<string, FileEntry>;
  readonly entries: ManifestEntry[];
  readonly leftOut: LeftOut[];
  readonly types: Map<string, ManifestEntry['type']>;
  phase: 'before' | 'within' | 'after';
  file: OpenFile | undefined;
  packBytes: number;
  workspaceBytes: number;
  manifestBytes: number;
};

/** What an entry takes in a manifest besides its path: names, numbers, a hash, a pack. */
const entryBytesMax = 320;

/**
 * Throws an `AppError` when the archive is to be refused, and any other error when it broke off.
 */
export const takeCheckpoint = async (
  frames: AsyncIterable<ArchiveFrame>,
  base: Base,
  sink: PackSink,
): Promise<Taken> => {
  const intake: Intake = {
    sink,
    baseFiles: new Map(filesOf(base).map((file) => [file.path, file])),
    entries: [],
    leftOut: [],
    types: new Map(),
    phase: 'before',
    file: undefined,
    packBytes: 0,
    workspaceBytes: 0,
    manifestBytes: 0,
  };
  for await (const frame of frames) await takeFrame(intake, frame);
  if (intake.phase !== 'after') throw new Error('the archive ends without its end');
  const { entries, leftOut, packBytes } = intake;
  return { entries, leftOut, packBytes };
};

const filesOf = (base: Base): FileEntry[] => (base?.entries ?? []).filter((entry) => entry.type === 'file');

const takeFrame = async (intake: Intake, { header, payload }: ArchiveFrame): Promise<void> => {
  refuseDisorder(intake, header.type);
  switch (header.type) {
    case 'begin':
      intake.phase = 'within';
      // What the sandbox does not know it cannot call unchanged.
      if (header.isFull) intake.baseFiles = new Map();
      return;
    case 'directory':
      return addEntry(intake, { type: 'directory', path: header.path, mode: header.mode });
    case 'symlink':
      return addEntry(intake, { type: 'symlink', path: header.path, target: header.target });
    case 'file':
      return header.same ? addSame(intake, header) : openFile(intake, header);
    case 'data':
      return addData(intake, payload);
    case 'file-end':
      return closeFile(intake, header);
    case 'left-out':
      return leaveOut(intake, { path: header.path, reason: header.reason });
    case 'removed':
      throw refuse('a workspace does not say what is gone');
    case 'end':
      intake.phase = 'after';
      return;
  }
};

const refuseDisorder = ({ phase, file }: Intake, type: ArchiveHeader['type']): void => {
  const wanted = type === 'begin' ? 'before' : 'within';
  const isOfFile = type === 'data' || type === 'file-end';
  if (phase !== wanted || isOfFile !== (file !== undefined)) throw refuse(`a frame ${type} is out of place`);
};

const refuse = (what: string): AppError =>
  new AppError('invalid_request', `the sandbox sent no proper archive: ${what}`);

const addEntry = (intake: Intake, entry: ManifestEntry): void => {
  claimPath(intake, entry.path, entry.type);
  count(intake, entry.path, entry.type === 'symlink' ? entry.target : '');
  intake.entries.push(entry);
};

const claimPath = ({ types }: Intake, path: string, type: ManifestEntry['type']): void => {
  const segments = path.split('/');
  if (path.includes('\0') || segments.some((segment) => ['', '.', '..'].includes(segment)))
    throw refuse('a path leads out of the workspace');
  if (types.has(path)) throw refuse('a path comes twice');
  if (segments.length > 1 && types.get(segments.slice(0, -1).join('/')) !== 'directory')
    throw refuse('a path comes before its folder');
  types.set(path, type);
};

const count = (intake: Intake, ...texts: readonly string[]): void => {
  intake.manifestBytes += entryBytesMax + Buffer.byteLength(JSON.stringify(texts));
  if (intake.entries.length + intake.leftOut.length >= workspaceEntriesMax)
    throw tooLarge(`more than ${workspaceEntriesMax} files and folders`);
  if (intake.manifestBytes > manifestBytesMax) throw tooLarge('too many long names');
};

const countBytes = (intake: Intake, bytes: number): void => {
  intake.workspaceBytes += bytes;
  if (intake.workspaceBytes > workspaceBytesMax) throw tooLarge(`more than ${workspaceBytesMax} bytes`);
};

const tooLarge = (what: string): AppError =>
  new AppError('resource_limit_exceeded', `the workspace is too large to be saved: ${what}`);

/** The name and times are the sandbox's; the content is where the base has it. */
const addSame = (intake: Intake, { path, mode, mtimeMs, size }: FileHeader): void => {
  const known = intake.baseFiles.get(path);
  if (known === undefined || known.size !== size)
    throw refuse('a file is said to be as it was, and the base does not have it so');
  countBytes(intake, size);
  addEntry(intake, { ...known, mode, mtimeMs });
};

const openFile = (intake: Intake, header: FileHeader): void => {
  claimPath(intake, header.path, 'file');
  count(intake, header.path);
  intake.file = { header, offset: intake.packBytes, hash: createHash('sha256'), size: 0 };
};

const addData = async (intake: Intake, payload: Uint8Array): Promise<void> => {
  const { file, sink } = intake;
  if (file === undefined) return;
  countBytes(intake, payload.length);
  file.hash.update(payload);
  file.size += payload.length;
  intake.packBytes += payload.length;
  await sink.append(payload);
};

const closeFile = (intake: Intake, { size, isWhole }: FileEnd): void => {
  const { file } = intake;
  if (file === undefined) return;
  intake.file = undefined;
  const { path, mode, mtimeMs } = file.header;
  if (!isWhole) {
    leaveOut(intake, { path, reason: 'it changed while it was read' });
    return;
  }
  if (size !== file.size) throw refuse('a file has another length than was said');
  const where = size === 0 ? { pack: '', offset: 0 } : { pack: intake.sink.id, offset: file.offset };
  const sha256 = file.hash.digest('hex');
  intake.entries.push({ type: 'file', path, mode, mtimeMs, size, sha256, ...where });
};

const leaveOut = (intake: Intake, found: LeftOut): void => {
  count(intake, found.path, found.reason);
  intake.leftOut.push(found);
};
