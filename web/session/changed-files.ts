/**
 * Files that the calls of a conversation changed, the newest first: as the log tells it, whatever the sandbox does. Changes
 * by programs are known only of calls that were tried for their effect. Pure.
 */
import type { EffectFile } from '#shared/domain/effect.ts';
import type { CallItem, Items } from './items.ts';

export type FileChange = {
  readonly path: string;
  /** The item of the newest call that changed it. */
  readonly itemId: string;
  /** Written by calls: the text before, null where the log does not have it, and the newest one. */
  readonly written?: { readonly before: string | null; readonly after: string };
  /** By the effect of a call. */
  readonly effect?: EffectFile;
  readonly times: number;
};

type Write = { readonly path: string; readonly content: string };

/** A path as the workspace names it. */
export const workspacePath = (path: string): string =>
  path.replace(/^\/workspace\//, '').replace(/^(\.\/)+/, '');

/** The file that a call writes, with the arguments that a person may have edited. */
const writeOf = ({ name, args, decided }: Pick<CallItem, 'name' | 'args' | 'decided'>): Write | undefined => {
  const { path, content } = decided?.editedArgs ?? args;
  if (name !== 'write_file' || typeof path !== 'string' || typeof content !== 'string') return undefined;
  return { path: workspacePath(path), content };
};

export const changedFiles = (items: Items): readonly FileChange[] => {
  const found = new Map<string, FileChange>();
  const add = (change: Omit<FileChange, 'times'>): void => {
    const known = found.get(change.path);
    found.delete(change.path);
    found.set(change.path, { ...change, times: (known?.times ?? 0) + 1 });
  };
  for (const item of items) {
    if (item.kind !== 'call' || item.status !== 'done') continue;
    const written = writeOf(item);
    if (written) {
      const known = found.get(written.path)?.written;
      const before = known ? known.before : null;
      add({ path: written.path, itemId: item.id, written: { before, after: written.content } });
    } else
      for (const effect of item.request?.effect?.files ?? [])
        add({ path: workspacePath(effect.path), itemId: item.id, effect });
  }
  return [...found.values()].reverse();
};

/** The text that an earlier call of the conversation wrote to the file; null where there is none. */
export const textBefore = (items: Items, call: CallItem): string | null => {
  const path = writeOf(call)?.path;
  const earlier = items.slice(
    0,
    items.findIndex(({ id }) => id === call.id),
  );
  for (const item of earlier.reverse()) {
    if (item.kind !== 'call' || item.status !== 'done') continue;
    const written = writeOf(item);
    if (written !== undefined && written.path === path) return written.content;
  }
  return null;
};
