/**
 * A file of a shared volume as its bytes come: a small one is kept and written at its end, a large one as it comes.
 *
 * The sandbox is not believed: its hash and its length are found here. One that changed while it was read is left out.
 */
import { createHash } from 'node:crypto';
import { type ArchiveHeader, wholeFileBytesMax } from '#shared/contracts/archive.ts';
import { workspaceBytesMax } from '#shared/domain/checkpoint.ts';
import {
  claimPath,
  type FileHeader,
  type Intake,
  isNews,
  leaveOut,
  type OpenFile,
  placeOf,
  refuse,
  tooLarge,
} from './shared-intake-state.ts';
import { keyOf, wordsOf } from './shared-object.ts';

type FileEnd = Extract<ArchiveHeader, { type: 'file-end' }>;

const changed = 'it changed while it was read';

export const openFile = async (intake: Intake, header: FileHeader): Promise<void> => {
  claimPath(intake, header.path);
  if (header.same) throw refuse('a file is said to be as it was');
  const upload = header.size > wholeFileBytesMax ? await openLarge(intake, header) : undefined;
  const file = { header, hash: createHash('sha256'), size: 0, chunks: [] };
  intake.file = upload === undefined ? file : { ...file, upload };
};

/** Without a hash it will be left out: the sandbox could not read it to its end. */
const openLarge = async (intake: Intake, { path, mode, mtimeMs, sha256 }: FileHeader) => {
  if (sha256 === undefined) return undefined;
  const entry = { type: 'file', mode, mtimeMs, sha256 } as const;
  const key = keyOf(intake.prefix, path);
  const words = wordsOf(entry);
  if (key === undefined || words === undefined || !(await isNews(intake, key, entry))) return undefined;
  return intake.bucket.upload(key, words);
};

export const addData = async (intake: Intake, payload: Uint8Array): Promise<void> => {
  const { file } = intake;
  if (file === undefined) return;
  intake.bytes += payload.length;
  if (intake.bytes > workspaceBytesMax) throw tooLarge(`more than ${workspaceBytesMax} bytes`);
  file.size += payload.length;
  if (file.size > file.header.size) throw refuse('a file is longer than was said');
  file.hash.update(payload);
  if (file.upload !== undefined) await file.upload.append(payload);
  else if (file.header.size <= wholeFileBytesMax) file.chunks.push(Uint8Array.from(payload));
};

export const closeFile = async (intake: Intake, { size, isWhole }: FileEnd): Promise<void> => {
  const { file } = intake;
  if (file === undefined) return;
  if (size !== file.size) throw refuse('a file has another length than was said');
  const sha256 = file.hash.digest('hex');
  await (file.header.size > wholeFileBytesMax
    ? closeLarge(intake, { file, sha256, isWhole })
    : closeSmall(intake, { file, sha256, isWhole }));
  intake.file = undefined;
};

type Closing = { readonly file: OpenFile; readonly sha256: string; readonly isWhole: boolean };

const closeLarge = async (intake: Intake, { file, sha256, isWhole }: Closing): Promise<void> => {
  const { header, upload } = file;
  if (!isWhole || header.sha256 !== sha256) {
    await upload?.abort();
    leaveOut(intake, header.path, changed);
  } else if (keyOf(intake.prefix, header.path) === undefined) {
    leaveOut(intake, header.path, 'its path is too long for a shared volume');
  } else if (upload !== undefined) {
    await upload.finish();
    countWritten(intake, file.size);
  }
};

const closeSmall = async (intake: Intake, { file, sha256, isWhole }: Closing): Promise<void> => {
  const { path, mode, mtimeMs } = file.header;
  if (!isWhole) return leaveOut(intake, path, changed);
  const entry = { type: 'file', mode, mtimeMs, sha256 } as const;
  const found = placeOf(intake, path, entry);
  if (found === undefined) return;
  const bytes = Buffer.concat(file.chunks);
  await intake.work.begin(async () => {
    if (!(await isNews(intake, found.key, entry))) return;
    await intake.bucket.put(found.key, { words: found.words, bytes });
    countWritten(intake, bytes.length);
  });
};

const countWritten = (intake: Intake, bytes: number): void => {
  intake.files += 1;
  intake.writtenBytes += bytes;
};
