/**
 * A folder with everything below it: listed in pieces, a folder before its content, names in order. Links are entries and
 * are not followed.
 *
 * At most as many entries as a workspace may have are listed; the outcome says when there are more.
 */
import { join } from 'node:path';
import { workspaceEntriesMax } from '#shared/domain/checkpoint.ts';
import type { TreeEnd } from '../wire/file-messages.ts';
import type { FileEntry } from '../wire/messages.ts';
import { namedPath } from '../wire/named-path.ts';
import { describeEntry, firstNames } from './files.ts';
import { type Roots, resolveInWorkspace } from './workspace-path.ts';

const entriesPerPiece = 500;

type TreeEntry = FileEntry & { readonly path: string };

export async function* treeSteps(roots: Roots, path: string): AsyncGenerator<Buffer, Buffer> {
  const root = await resolveInWorkspace(roots, path);
  const prefix = namedPath(roots.workspace, path);
  let entries: TreeEntry[] = [];
  let count = 0;
  let isCut = false;
  for await (const entry of walk(root, { path, prefix })) {
    isCut = count === workspaceEntriesMax;
    if (isCut) break;
    count += 1;
    entries.push(entry);
    if (entries.length < entriesPerPiece) continue;
    yield jsonOf(entries);
    entries = [];
  }
  if (entries.length > 0) yield jsonOf(entries);
  return jsonOf({ truncated: isCut } satisfies TreeEnd);
}

type Walk = { readonly path: string; readonly prefix: string };

async function* walk(root: string, { path, prefix }: Walk): AsyncGenerator<TreeEntry> {
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    // The folder itself must be there; one below may vanish or be closed.
    const listed = firstNames(join(root, folder), path, workspaceEntriesMax + 1);
    const { names } = await (folder === '' ? listed : listed.catch(() => ({ names: [] })));
    const folders: string[] = [];
    for (const name of names) {
      const entry = await describeEntry(join(root, folder), name);
      if (entry === undefined) continue;
      yield { path: join(prefix, folder, name), ...entry };
      if (entry.type === 'directory') folders.push(join(folder, name));
    }
    pending.push(...folders.reverse());
  }
}

const jsonOf = (value: object): Buffer => Buffer.from(JSON.stringify(value));
