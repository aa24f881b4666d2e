/** Requirements of a protocol revision on a server, as the suite froze them when the revision was released. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/conformance/requirements');

/** The names under `server:`; what is under `not_scored:` is run too, and is optional or still being worked on. */
export const requiredOf = async (revision: string): Promise<readonly string[]> => {
  const text = await readFile(join(folder, `${revision}.yaml`), 'utf8');
  const section = /^server:\n((?: {2}- .*\n)+)/m.exec(text)?.[1] ?? '';
  return [...section.matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => name ?? '');
};
