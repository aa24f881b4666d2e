/** The objects of workspaces in the bucket of an embedded cloud, by key, as its records on disk name them. */
import { readdir, readFile } from 'node:fs/promises';
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
