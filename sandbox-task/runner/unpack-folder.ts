/**
 * The unpacking of an uploaded archive into a folder of the workspace.
 *
 * The archive is read twice: a first pass checks every entry against the folder and the bounds of a workspace, so that an
 * archive which would be refused changes nothing; the second one writes. Entries go through real folders only, as a
 * restore does: no link is followed, neither one that is there nor one of the archive. A file gets its name when it
 * is whole. Guarantee W15 of docs/spec/sandbox.md.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  futimesSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { UploadName, UploadPart, WrittenTree } from '../wire/file-messages.ts';
import { checkEntries, type PlannedEntry, plannedEntry } from './archive-plan.ts';
import { makeFolder, makeLink, setFolderModes } from './restore.ts';
import { createRestorePaths } from './restored-entry.ts';
import { readTarGz } from './tar-reader.ts';
import { archivePartialOf } from './upload-partials.ts';
import { appendPart, openPartial } from './upload-parts.ts';
import { FileRefusal, freshPartialOf, isPartial, type Roots, resolveInWorkspace } from './workspace-path.ts';

/** The bytes that have arrived. */
export const writeArchivePart = async (roots: Roots, part: UploadPart, content: Buffer): Promise<number> => {
  const folder = await resolveInWorkspace(roots, part.path);
  const partial = await archivePartialOf(roots, folder, part);
  await mkdir(folder, { recursive: true });
  return appendPart(partial, part, content);
};

export async function* unpackSteps(roots: Roots, upload: UploadName): AsyncGenerator<Buffer, Buffer> {
  const folder = await resolveInWorkspace(roots, upload.path);
  const descriptor = takeUpload(await archivePartialOf(roots, folder, upload));
  try {
    const isNew = readdirSync(folder).every(isPartial);
    for await (const _ of paced(checkEntries(folder, readTarGz(descriptor)))) yield nothing;
    const written = { files: 0, bytes: 0 };
    for await (const _ of paced(writeEntries(folder, descriptor, written))) yield nothing;
    return Buffer.from(JSON.stringify({ isNew, ...written } satisfies WrittenTree));
  } finally {
    closeSync(descriptor);
  }
}

const nothing = Buffer.alloc(0);
const stepMs = 500;

/** One value for each half second of work. */
async function* paced(work: AsyncGenerator<void>): AsyncGenerator<void> {
  let since = performance.now();
  for await (const _ of work) {
    if (performance.now() - since < stepMs) continue;
    yield;
    since = performance.now();
  }
}

/** Its name is gone at once: a runner that ends leaves nothing, and another upload cannot change it. */
const takeUpload = (partial: string): number => {
  const descriptor = openPartial(partial, false);
  unlinkSync(partial);
  return descriptor;
};

async function* writeEntries(
  folder: string,
  descriptor: number,
  written: { files: number; bytes: number },
): AsyncGenerator<void> {
  const { resolveRestorePath, forget } = createRestorePaths(folder);
  const modes = new Map<string, number>();
  let file: WrittenFile | undefined;
  const finish = (): void => {
    const finished = file;
    file = undefined;
    finished?.finish();
    if (finished !== undefined) written.files += 1;
  };
  try {
    for await (const part of readTarGz(descriptor)) {
      yield;
      if ('bytes' in part) {
        file?.write(part.bytes);
        written.bytes += part.bytes.length;
        continue;
      }
      if ('long' in part) continue;
      finish();
      const entry = plannedEntry(part.header);
      if (entry === undefined) continue;
      const target = resolveRestorePath(entry.path);
      if (entry.type === 'file') file = openFile(target, entry);
      else writeOther(entry, target, resolveRestorePath);
      if (entry.type === 'directory') modes.set(target, entry.mode);
      if (entry.type === 'symlink') forget();
      if (entry.type === 'hard-link') written.files += 1;
    }
    finish();
  } finally {
    file?.drop();
    setFolderModes(modes);
  }
}

type OtherEntry = Exclude<PlannedEntry, { type: 'file' }>;

const writeOther = (entry: OtherEntry, target: string, resolvePath: (path: string) => string): void => {
  if (entry.type === 'directory') makeFolder(target, entry.mode);
  else if (entry.type === 'symlink') makeLink(target, entry.target);
  else makeHardLink(resolvePath(entry.target), target);
};

/** Made beside its place, since a link never replaces what is there. */
const makeHardLink = (source: string, target: string): void => {
  const partial = freshPartialOf(target);
  linkSync(source, partial);
  renameSync(partial, target);
  // Two names of one file: the rename did nothing.
  rmSync(partial, { force: true });
};

type WrittenFile = {
  readonly write: (bytes: Buffer) => void;
  readonly finish: () => void;
  readonly drop: () => void;
};

const openFile = (target: string, { mode, mtimeMs }: { mode: number; mtimeMs: number }): WrittenFile => {
  const partial = freshPartialOf(target);
  const fresh = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const descriptor = openSync(partial, fresh, 0o600);
  const drop = (): void => {
    closeSync(descriptor);
    rmSync(partial, { force: true });
  };
  return {
    write(bytes) {
      for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
    },
    finish() {
      try {
        fchmodSync(descriptor, mode);
        futimesSync(descriptor, mtimeMs / 1000, mtimeMs / 1000);
        renameSync(partial, target);
      } catch (cause) {
        throw new FileRefusal('conflict', `an entry changed while it was unpacked`, { cause });
      } finally {
        drop();
      }
    },
    drop,
  };
};
