/**
 * Queue of chosen files on their way to the uploads: what is in their place is looked up first, and replaced only after a question.
 *
 * One choice follows the other, since the app has one question. A choice that is still in the queue when its page goes is not uploaded.
 */
import { onScopeDispose, type Ref, shallowRef } from 'vue';
import type { confirm } from '../../components/confirm-dialog.vue';
import { notify } from '../../components/notices.vue';
import { type Incoming, incomingFilesMax } from './incoming-files.ts';
import { isOver, type Uploads } from './uploads.ts';
import { joined, typesAt } from './workspace-files.ts';

type IncomingQueue = {
  /** The number of choices that are not with the uploads yet. */
  readonly open: Readonly<Ref<number>>;
  /** Of files whose paths are relative to the folder. */
  readonly take: (folder: string, chosen: readonly Incoming[] | Promise<readonly Incoming[]>) => void;
  /** Tries an upload again that was not done. */
  readonly again: (path: string) => void;
};

type Options = { readonly sessionId: string; readonly uploads: Uploads; readonly ask: typeof confirm };

export const useIncomingQueue = ({ sessionId, uploads, ask }: Options): IncomingQueue => {
  const open = shallowRef(0);
  let isGone = false;
  onScopeDispose(() => {
    isGone = true;
  });

  /** True when no file is in their place, or the person has it replaced. */
  const mayReplace = async (paths: readonly string[]): Promise<boolean> => {
    if (isGone) return false;
    const types = await typesAt(sessionId, paths);
    const taken = paths.filter((path) => ![undefined, 'directory'].includes(types.get(path)));
    // A page that is gone asks nothing.
    if (isGone || taken.length === 0) return !isGone;
    return (await ask(questionOf(taken))) && !isGone;
  };

  let before: Promise<unknown> = Promise.resolve();
  const queue = (work: () => Promise<void>): void => {
    open.value += 1;
    before = before
      .then(work)
      .catch((error: unknown) => {
        if (!isGone)
          notify(`Nothing was uploaded: ${error instanceof Error ? error.message : String(error)}`, 'bad');
      })
      .finally(() => {
        open.value -= 1;
      });
  };
  return {
    open,
    take: (folder, chosen) => {
      const given = Promise.resolve(chosen);
      // It may fail before its turn, in which it is told.
      given.catch(() => undefined);
      queue(async () => {
        const files = lastOfEach((await given).slice(0, incomingFilesMax), folder);
        if (!(await mayReplace(files.map(({ path }) => path)))) return;
        uploads.add(files);
        tellLeftOut(await given, files);
      });
    },
    again: (path) =>
      queue(async () => {
        const isStillOver = (): boolean => uploads.rows.value.some((row) => row.path === path && isOver(row));
        if (isStillOver() && (await mayReplace([path])) && isStillOver()) uploads.again(path);
      }),
  };
};

/** Files of two folders may have one path. */
const lastOfEach = (files: readonly Incoming[], folder: string): readonly Incoming[] => {
  const placed = files.map(({ path, file }) => ({ path: joined(folder, path), file }));
  return [...new Map(placed.map((one) => [one.path, one])).values()];
};

const tellLeftOut = (chosen: readonly Incoming[], files: readonly Incoming[]): void => {
  if (chosen.length > incomingFilesMax)
    notify(`Only the first ${incomingFilesMax} files are uploaded.`, 'bad');
  if (files.length < Math.min(chosen.length, incomingFilesMax))
    notify('Some files have the same name: only the last of each name is uploaded.', 'bad');
};

const questionOf = (taken: readonly string[]): Parameters<typeof confirm>[0] => {
  const [first = ''] = taken;
  const [title, what] =
    taken.length === 1
      ? [`Replace ${first}?`, 'this file']
      : [`Replace ${taken.length} files?`, `${first} and others of these files`];
  const text = `The workspace already has ${what}. The upload replaces what is there.`;
  return { title, text, action: 'Replace', isDangerous: true };
};
