/** The objects of workspaces in the bucket of an embedded cloud, by key, as its records on disk name them. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const storedObjects = async (home: string, workspace: string): Promise<readonly string[]> =>
  (await allObjects(home)).filter((key) => key.startsWith(`workspaces/${workspace}/`));

export const allObjects = async (home: string): Promise<readonly string[]> => {
  const records = join(home, 's3', 'sallyport-workspaces', 'records');
  const found: string[] = [];
  for (const name of await readdir(records)) {
    // One that is deleted in the meantime is no longer there.
    const text = await readFile(join(records, name), 'utf8').catch(() => '{"key":""}');
    found.push(String(JSON.parse(text).key));
  }
  return found.filter((key) => key.startsWith('workspaces/'));
};

/** From now on no content of the workspace is the one that was saved. */
export const spoilPacks = async (home: string, workspace: string): Promise<void> => {
  const bucket = join(home, 's3', 'sallyport-workspaces');
  for (const name of await readdir(join(bucket, 'records'))) {
    const { key, file } = JSON.parse(await readFile(join(bucket, 'records', name), 'utf8'));
    if (!key.startsWith(`workspaces/${workspace}/packs/`)) continue;
    const bytes = await readFile(join(bucket, 'bytes', file));
    await writeFile(
      join(bucket, 'bytes', file),
      bytes.map((byte) => byte ^ 1),
    );
  }
};
