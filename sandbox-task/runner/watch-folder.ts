/**
 * Changes below a folder, or of one file, as the kernel reports them (inotify(7)).
 *
 * Each folder is watched by itself: links are not followed, and a new folder is watched, and its content reported, when it
 * appears. A name that changes twice between two requests is reported once. When too many wait, only the watched path itself
 * is reported, as modified: anything below may have changed.
 */
import { type FSWatcher, lstatSync, readdirSync, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type FileChange, watchPauseMs } from '../wire/file-messages.ts';
import { namedPath } from '../wire/named-path.ts';
import { codeOf, FileRefusal, isPartial, type Roots, resolveInWorkspace } from './workspace-path.ts';

const watchedFoldersMax = 5000;
const knownNamesMax = 100_000;
const waitingChangesMax = 1000;
/** The time for which changes are collected, in milliseconds. */
const batchMs = 100;

export async function* watchSteps(roots: Roots, path: string): AsyncGenerator<Buffer, Buffer> {
  const target = await resolveInWorkspace(roots, path);
  const isFolder = lstatSync(target).isDirectory();
  const waiting = createWaiting(namedPath(roots.workspace, path) || '.');
  const watched = createWatch({
    folder: isFolder ? target : dirname(target),
    onlyName: isFolder ? undefined : basename(target),
    report: (below, kind) => waiting.add({ path: pathOf(roots, { path, isFolder }, below), kind }),
  });
  try {
    // The first piece says that the watch has begun.
    yield jsonOf([]);
    for (;;) yield jsonOf(await waiting.take());
  } finally {
    watched.close();
  }
}

const jsonOf = (changes: readonly FileChange[]): Buffer => Buffer.from(JSON.stringify(changes));

const pathOf = (
  roots: Roots,
  { path, isFolder }: { readonly path: string; readonly isFolder: boolean },
  below: string,
): string => (isFolder ? join(namedPath(roots.workspace, path), below) : namedPath(roots.workspace, path));

type Report = (below: string, kind: FileChange['kind']) => void;
type WatchOptions = {
  readonly folder: string;
  readonly onlyName: string | undefined;
  readonly report: Report;
};

/** `below` is relative to the folder. */
const createWatch = ({ folder, onlyName, report }: WatchOptions) => {
  const folders = new Map<string, { readonly watcher: FSWatcher; readonly names: Set<string> }>();
  let names = 0;
  const open = (below: string, isFirst: boolean): void => {
    if (folders.has(below)) return;
    if (folders.size >= watchedFoldersMax) throw tooMany();
    const watcher = openWatcher(join(folder, below), (name) => onEvent(below, name));
    const known = new Set<string>();
    folders.set(below, { watcher, names: known });
    for (const each of readdirSync(join(folder, below), { withFileTypes: true })) {
      if (!isOurs(each.name)) continue;
      keep(known, each.name);
      if (!isFirst) report(join(below, each.name), 'created');
      if (each.isDirectory()) openBelow(join(below, each.name), isFirst);
    }
  };
  /** A folder that is gone again, or closed to its owner, has no content to report. */
  const openBelow = (below: string, isFirst: boolean): void => {
    if (onlyName !== undefined) return;
    try {
      open(below, isFirst);
    } catch (cause) {
      if (isFirst && cause instanceof FileRefusal) throw cause;
      close(below);
    }
  };
  const isOurs = (name: string): boolean => !isPartial(name) && (onlyName === undefined || name === onlyName);
  const keep = (known: Set<string>, name: string): void => {
    if (names >= knownNamesMax || known.has(name)) return;
    known.add(name);
    names += 1;
  };
  const close = (below: string): void => {
    const closed = folders.get(below);
    folders.delete(below);
    closed?.watcher.close();
    names -= closed?.names.size ?? 0;
  };
  const closeAllBelow = (below: string): void => {
    for (const path of [...folders.keys()]) if (path === below || path.startsWith(`${below}/`)) close(path);
  };
  /** A change of a watched folder's own mode comes under its own name, as if it were in itself. */
  const isOwnName = (below: string, name: string): boolean => name === basename(join(folder, below));
  const onEvent = (below: string, name: string): void => {
    const known = folders.get(below)?.names;
    if (known === undefined || !isOurs(name)) return;
    const path = join(below, name);
    const found = lookAt(join(folder, path));
    if (!isThere(found) && !known.has(name) && isOwnName(below, name)) return;
    if (found === 'gone') {
      if (known.delete(name)) names -= 1;
      closeAllBelow(path);
      report(path, 'removed');
      return;
    }
    report(path, known.has(name) ? 'modified' : 'created');
    keep(known, name);
    if (found === 'folder') openBelow(path, false);
  };
  const closeAll = (): void => {
    for (const path of [...folders.keys()]) close(path);
  };
  try {
    open('', true);
  } catch (cause) {
    closeAll();
    throw cause;
  }
  return { close: closeAll };
};

type Found = 'folder' | 'other' | 'gone' | 'unseen';

const isThere = (found: Found): boolean => found === 'folder' || found === 'other';

/** Its folder may be gone too, or be another kind of entry by now; `unseen`: user code has closed the way to it. */
const lookAt = (path: string): Found => {
  try {
    return lstatSync(path).isDirectory() ? 'folder' : 'other';
  } catch (cause) {
    return ['ENOENT', 'ENOTDIR'].includes(codeOf(cause)) ? 'gone' : 'unseen';
  }
};

const openWatcher = (path: string, onName: (name: string) => void): FSWatcher => {
  try {
    const watcher = watch(path, { persistent: false }, (_, name) => {
      if (name !== null) onName(name);
    });
    // The folder is gone: its parent reports that.
    watcher.on('error', () => undefined);
    return watcher;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw code === 'ENOSPC' || code === 'EMFILE' ? tooMany() : cause;
  }
};

const tooMany = (): FileRefusal =>
  new FileRefusal('resource_limit_exceeded', 'there are too many folders to watch: name one with fewer');

/** Changes until they are asked for: a name has one, and its newest kind. */
const createWaiting = (whole: string) => {
  const changes = new Map<string, FileChange>();
  let isOver = false;
  let wake = (): void => undefined;
  return {
    add(change: FileChange): void {
      const before = changes.get(change.path);
      changes.delete(change.path);
      if (changes.size >= waitingChangesMax) isOver = true;
      else changes.set(change.path, mergedWith(before, change));
      wake();
    },
    /** An empty list after a while without a change. */
    async take(): Promise<readonly FileChange[]> {
      if (changes.size === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, watchPauseMs);
          wake = () => {
            clearTimeout(timer);
            setTimeout(resolve, batchMs);
            wake = () => undefined;
          };
        });
      }
      const taken = isOver ? [{ path: whole, kind: 'modified' } as const] : [...changes.values()];
      changes.clear();
      isOver = false;
      return taken;
    },
  };
};

/** A file that was created and then written is new to a reader who has not heard of it yet. */
const mergedWith = (before: FileChange | undefined, change: FileChange): FileChange =>
  before?.kind === 'created' && change.kind === 'modified' ? { ...change, kind: 'created' } : change;
