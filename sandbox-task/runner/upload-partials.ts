/**
 * The partials of uploads, in which the parts of each are gathered, and the room that unfinished ones may keep.
 *
 * An upload with an id has a partial of its own, so that two of one file never mix. It lies in the root that its file is below,
 * since a rename is atomic only within one file system: whatever becomes of the folders on the way, one listing finds all of them, also
 * for a runner that takes the place of another. One without an id is told from another only by its length, and lies beside its file.
 */
import { createHash } from 'node:crypto';
import { lstatSync, opendirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { workspaceBytesMax } from '#shared/domain/checkpoint.ts';
import type { UploadName } from '../wire/file-messages.ts';
import { partialOf, partialPrefix, type Roots, rootOf } from './workspace-path.ts';

/** Of unfinished uploads with an id in one root. Their bytes are those that they announced. */
const uploadsMax = 100;
const uploadsBytesMax = 2 * workspaceBytesMax;
/** Since its last part, in milliseconds. */
const waitMsMax = 3_600_000;

type Upload = Omit<UploadName, 'path'>;

export const filePartialOf = async (
  roots: Roots,
  target: string,
  { upload, total }: Upload,
): Promise<string> =>
  upload === undefined
    ? partialOf(target, String(total))
    : join(await rootOf(roots, target), ownName(`file ${upload} ${target}`, total));

/** Without an id it lies in the folder that the archive will fill. */
export const archivePartialOf = async (
  roots: Roots,
  folder: string,
  { upload, total }: Upload,
): Promise<string> =>
  upload === undefined
    ? join(folder, `${partialPrefix}archive-${total}`)
    : join(await rootOf(roots, folder), ownName(`archive ${upload} ${folder}`, total));

const ownPrefix = `${partialPrefix}upload-`;
const ownRest = /^(\d{1,15})-[\da-f]{32}$/;

const ownName = (upload: string, total: number): string =>
  `${ownPrefix}${total}-${createHash('sha256').update(upload).digest('hex').slice(0, 32)}`;

/**
 * Before an upload with an id begins. Those that wait too long for their next part give way, then those that wait longest: their senders
 * are told to begin again. Nothing is awaited, so that no other part comes in between.
 */
export const makeRoomForUpload = (partial: string, total: number): void => {
  const oldestAt = Date.now() - waitMsMax;
  let uploads = 1;
  let bytes = total;
  for (const other of unfinishedUploads(dirname(partial), basename(partial))) {
    const isKept = other.partAt >= oldestAt && uploads < uploadsMax && bytes + other.total <= uploadsBytesMax;
    if (!isKept) {
      rmSync(other.path, { force: true });
      continue;
    }
    uploads += 1;
    bytes += other.total;
  }
};

type Unfinished = { readonly path: string; readonly total: number; readonly partAt: number };

/** All but one of a root; the one that got a part last is the first. */
const unfinishedUploads = (root: string, except: string): readonly Unfinished[] => {
  const found: Unfinished[] = [];
  using names = opendirSync(root, { bufferSize: 256 });
  for (let entry = names.readSync(); entry !== null; entry = names.readSync()) {
    const { name } = entry;
    if (!name.startsWith(ownPrefix) || name === except) continue;
    const [, total] = ownRest.exec(name.slice(ownPrefix.length)) ?? [];
    const path = join(root, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (total !== undefined && stat?.isFile())
      found.push({ path, total: Number(total), partAt: stat.mtimeMs });
  }
  return found.toSorted((one, other) => other.partAt - one.partAt);
};
