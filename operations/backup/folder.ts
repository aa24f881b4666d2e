/**
 * The folder of a backup: what is in it, and proof that nothing of it is damaged.
 *
 * `manifest.json` is written last, so a folder without it is no backup. It has the SHA-256 of every other file, objects
 * excepted: each line of `objects.jsonl` has that of its own object.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { Failure } from '../deploy/programs.ts';

const ownFolder = 0o700;
const ownFile = 0o600;

const manifestShape = z.object({
  version: z.literal(1),
  /** The moment of the table's copy. */
  takenAt: z.iso.datetime(),
  deployment: z.string(),
  items: z.int(),
  objects: z.int(),
  objectBytes: z.int(),
  /** False: they were left out. */
  hasSecrets: z.boolean(),
  /** SHA-256 by the path in the folder. */
  files: z.record(z.string(), z.string()),
});
export type Manifest = z.infer<typeof manifestShape>;

const objectShape = z.object({
  key: z.string(),
  etag: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  type: z.string().exactOptional(),
  /** Epoch milliseconds, as it was listed. */
  modifiedAt: z.int().exactOptional(),
  /** The user metadata; absent: an earlier backup did not keep it. */
  metadata: z.record(z.string(), z.string()).exactOptional(),
});
/** An object of the bucket; its bytes are in the file `pathOfObject`. */
export type CopiedObject = z.infer<typeof objectShape>;

export const objectsFile = 'objects.jsonl';
export const secretsFile = 'secrets.json';
const manifestFile = 'manifest.json';

export const makeFolder = async (folder: string): Promise<void> => {
  for (const name of ['table', 'objects'])
    await mkdir(join(folder, name), { recursive: true, mode: ownFolder });
};

/** Keys have names that people chose, which no file needs to be able to have. */
export const pathOfObject = (key: string): string => {
  const name = createHash('sha256').update(key).digest('hex');
  return join('objects', name.slice(0, 2), name);
};

/** Replaces the file as a whole. */
export const writeWhole = async (path: string, text: string): Promise<void> => {
  await writeFile(`${path}.part`, text, { mode: ownFile });
  await rename(`${path}.part`, path);
};

export const writeManifest = (folder: string, manifest: Manifest): Promise<void> =>
  writeWhole(join(folder, manifestFile), `${JSON.stringify(manifest, undefined, 2)}\n`);

export const readManifest = async (folder: string): Promise<Manifest> => {
  const text = await readFile(join(folder, manifestFile), 'utf8').catch((cause: unknown) => {
    throw new Failure(
      `${folder} holds no finished backup`,
      ['Choose a folder that `npm run backup` has finished.'],
      cause,
    );
  });
  return parsed(manifestShape, manifestFile, text);
};

/** Those of an earlier, perhaps unfinished backup as well; none for a new folder. */
export const readObjects = async (folder: string): Promise<readonly CopiedObject[]> => {
  const text = await readFile(join(folder, objectsFile), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parsed(objectShape, objectsFile, line));
};

const parsed = <T>(shape: z.ZodType<T>, name: string, text: string): T => {
  try {
    return shape.parse(JSON.parse(text));
  } catch (cause) {
    throw new Failure(`${name} of the backup is damaged`, ['Use another backup.'], cause);
  }
};

export const sha256Of = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(path)) hash.update(bytes);
  return hash.digest('hex');
};

/** Throws a failure that names the first damaged or missing file. */
export const verifyFolder = async (folder: string, { files }: Manifest): Promise<void> => {
  for (const [name, sha256] of Object.entries(files)) await verifyFile(folder, name, sha256);
  for (const { key, sha256 } of await readObjects(folder))
    await verifyFile(folder, pathOfObject(key), sha256);
};

const verifyFile = async (folder: string, name: string, sha256: string): Promise<void> => {
  const found = await sha256Of(join(folder, name)).catch(() => undefined);
  if (found !== sha256)
    throw new Failure(`${name} of the backup is ${found === undefined ? 'missing' : 'damaged'}`, [
      'Nothing was restored. Use another backup.',
    ]);
};
