/**
 * A backup of a deployment's data and its way back: the table, the objects of its bucket, and its secrets if they are wanted.
 *
 * It knows services, not deployments: which table, bucket and secrets are meant is decided by its caller.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Failure } from '../deploy/programs.ts';
import {
  type CopiedObject,
  type Manifest,
  makeFolder,
  objectsFile,
  readManifest,
  secretsFile,
  sha256Of,
  verifyFolder,
  writeManifest,
} from './folder.ts';
import { loadObjects, saveObjects } from './object-copy.ts';
import {
  hasBundle,
  loadSecrets,
  readBundles,
  type SecretNames,
  type SecretsTarget,
  writeSecrets,
} from './secret-copy.ts';
import { collectPointers, repairPointers } from './secret-pointers.ts';
import { loadTable, saveTable } from './table-copy.ts';

export type Services = {
  readonly dynamoDb: DynamoDBClient;
  readonly s3: S3Client;
  readonly secretsManager: SecretsManagerClient;
};

export type Saved = {
  readonly deployment: string;
  /**
   * A table without writers, as it was at `takenAt`, not before `after`; or a living one: then items of different moments are
   * mixed.
   */
  readonly table: (after: Date) => Promise<{ readonly name: string; readonly takenAt: Date }>;
  readonly bucket: string;
  /** Of the seals; absent: they are in the other. */
  readonly sealBucket?: string;
  /** Absent: without secrets. */
  readonly secrets?: SecretNames;
};

type Copying = { readonly folder: string; readonly say: (line: string) => void };
/** `begin` is awaited when the folder is verified, before anything is written. */
type Loading = Copying & { readonly begin?: () => Promise<void> };

/**
 * Objects are copied before the moment of the table and again after it. An object that the table names was there the first
 * time or was written since, so it is in the folder unless it was written and deleted between the two listings. The same holds
 * for bundles of secrets, of which the folder gets those that the table names: others may hold a value that a person has removed.
 */
export const saveBackup = async (
  { dynamoDb, s3, secretsManager }: Services,
  { deployment, table, bucket, sealBucket, secrets }: Saved,
  { folder, say }: Copying,
): Promise<Manifest> => {
  await makeFolder(folder);
  const stored = { client: s3, bucket, ...(sealBucket !== undefined && { sealBucket }) };
  const bundles = secrets && (await readBundles(secretsManager, secrets));
  const before = await saveObjects(stored, folder);
  say(`Copied ${described(before)}`);
  const { name, takenAt } = await table(new Date());
  const pointers = collectPointers();
  const items = await saveTable({ client: dynamoDb, table: name, see: pointers.see }, join(folder, 'table'));
  say(`Copied ${items} items of the table`);
  const objects = await saveObjects(stored, folder, before);
  say(`The folder has ${described(objects)}`);
  if (secrets !== undefined) {
    const known = new Map([...(bundles ?? []), ...(await readBundles(secretsManager, secrets))]);
    const { found, missing } = named(pointers.bundles, known);
    await writeSecrets(secretsManager, { ...secrets, bundles: found }, folder);
    for (const project of missing)
      say(
        `The secrets of project ${project} changed during the backup and are not in the folder: copy it again.`,
      );
  }
  const names = [
    objectsFile,
    ...(secrets === undefined ? [] : [secretsFile]),
    ...(await readdir(join(folder, 'table'))).map((file) => join('table', file)),
  ];
  const files = await Promise.all(
    names.map(async (file) => [file, await sha256Of(join(folder, file))] as const),
  );
  const manifest: Manifest = {
    ...{ version: 1, takenAt: takenAt.toISOString(), deployment, items },
    ...{ objects: objects.length, objectBytes: bytesOf(objects), hasSecrets: secrets !== undefined },
    files: Object.fromEntries(files),
  };
  await writeManifest(folder, manifest);
  return manifest;
};

/** Bundles that the pointers name, and the projects whose bundle is not known. */
const named = (
  pointers: ReadonlyMap<string, string>,
  known: ReadonlyMap<string, string>,
): { readonly found: ReadonlyMap<string, string>; readonly missing: readonly string[] } => {
  const found = new Map<string, string>();
  const missing: string[] = [];
  for (const [project, bundle] of pointers) {
    const value = known.get(bundle);
    if (value === undefined) missing.push(project);
    else found.set(bundle, value);
  }
  return { found, missing };
};

export type Loaded = {
  readonly table: string;
  readonly bucket: string;
  /** Seals are restored into it; absent: into the other. */
  readonly sealBucket?: string;
} & SecretsTarget;

/** Nothing is written before the whole folder is verified. Run again after a failure, it writes the same. */
export const loadBackup = async (
  { dynamoDb, s3, secretsManager }: Services,
  { table, bucket, sealBucket, ...secrets }: Loaded,
  { folder, say, begin }: Loading,
): Promise<Manifest> => {
  const manifest = await readManifest(folder);
  await verifyFolder(folder, manifest);
  say('The backup is complete');
  await begin?.();
  let bundles: ReadonlySet<string> = new Set();
  if (manifest.hasSecrets) {
    bundles = await loadSecrets(secretsManager, secrets, folder);
    say(`Restored the secrets of ${bundles.size} projects`);
  }
  const stored = { client: s3, bucket, ...(sealBucket !== undefined && { sealBucket }) };
  // Before the items that name them.
  say(`Restored ${described(await loadObjects(stored, folder))}`);
  const { repaired, lost } = repairPointers(
    async (bundle) => bundles.has(bundle) || (await hasBundle(secretsManager, bundle)),
  );
  const items = await loadTable({ client: dynamoDb, table, repaired }, join(folder, 'table'));
  say(`Restored ${items} items of the table`);
  if (lost().length > 0) say('Secrets that are not in the backup, and have to be set anew:');
  for (const line of lost()) say(`  ${line}`);
  if (items !== manifest.items)
    throw new Failure(`the backup says ${manifest.items} items, and its files have ${items}`);
  return manifest;
};

const bytesOf = (objects: readonly CopiedObject[]): number =>
  objects.reduce((sum, { bytes }) => sum + bytes, 0);

const described = (objects: readonly CopiedObject[]): string =>
  `${objects.length} objects, ${(bytesOf(objects) / 1e6).toFixed(1)} MB`;
