/**
 * Uploads to a workspace, one file at a time. Each can be cancelled and tried again, and a failed one does not stop the others. A file
 * above the limit is refused before it is sent.
 */
import { computed, type Ref, type ShallowRef, shallowRef } from 'vue';
import { SallyportError } from '#sdk/errors.ts';
import { byteSize } from '../../components/format.ts';
import type { Incoming } from './incoming-files.ts';
import { uploadBytesMax } from './upload-limit.ts';
import { writeFile } from './workspace-files.ts';

export type UploadRow = {
  readonly path: string;
  readonly file: File;
  readonly sent: number;
  readonly state: 'waiting' | 'sending' | 'done' | 'failed' | 'cancelled' | 'refused';
  readonly problem: string;
};

export type Uploads = {
  readonly rows: ShallowRef<readonly UploadRow[]>;
  /** The number of uploads that wait or run. */
  readonly open: Readonly<Ref<number>>;
  /** Of files whose paths are relative to the workspace, each with one of its own. A file replaces an earlier one of its path. */
  readonly add: (files: readonly Incoming[]) => void;
  readonly cancel: (path: string) => void;
  readonly cancelAll: () => void;
  /** Only one that was not done. */
  readonly again: (path: string) => void;
  /** Forgets those that are over. */
  readonly clear: () => void;
};

export const isOpen = ({ state }: UploadRow): boolean => state === 'waiting' || state === 'sending';
/** It was not done, and can be tried again. */
export const isOver = ({ state }: UploadRow): boolean => state === 'failed' || state === 'cancelled';

export const useUploads = (sessionId: string): Uploads => {
  const rows = shallowRef<readonly UploadRow[]>([]);
  const stops = new Map<string, AbortController>();
  let isSending = false;

  const change = (path: string, changed: Partial<UploadRow>): void => {
    rows.value = rows.value.map((row) => (row.path === path ? { ...row, ...changed } : row));
  };
  const send = async ({ path, file }: UploadRow): Promise<void> => {
    const stop = new AbortController();
    stops.set(path, stop);
    // After a cancellation the row is no longer about this try.
    const tell = (changed: Partial<UploadRow>): void => {
      if (stops.get(path) === stop) change(path, changed);
    };
    tell({ state: 'sending' });
    try {
      const { signal } = stop;
      await writeFile(sessionId, { path, content: file, signal, onProgress: (sent) => tell({ sent }) });
      tell({ state: 'done' });
    } catch (error) {
      tell({ state: 'failed', problem: problemOf(error) });
    }
  };
  const sendNext = (): void => {
    const next = rows.value.find(({ state }) => state === 'waiting');
    if (isSending || next === undefined) return;
    isSending = true;
    void send(next).finally(() => {
      isSending = false;
      sendNext();
    });
  };
  const stop = (path: string): void => {
    stops.get(path)?.abort();
    stops.delete(path);
  };
  const cancel = (path: string): void => {
    const row = rows.value.find((one) => one.path === path);
    if (row === undefined || !isOpen(row)) return;
    stop(path);
    change(path, { state: 'cancelled' });
  };
  return {
    rows,
    open: computed(() => rows.value.filter(isOpen).length),
    add: (files) => {
      for (const { path } of files) stop(path);
      const others = rows.value.filter(({ path }) => !files.some((one) => one.path === path));
      rows.value = [...others, ...files.map(newRow)];
      sendNext();
    },
    cancel,
    cancelAll: () => {
      for (const { path } of rows.value) cancel(path);
    },
    again: (path) => {
      if (!rows.value.some((row) => row.path === path && isOver(row))) return;
      change(path, { state: 'waiting', sent: 0, problem: '' });
      sendNext();
    },
    clear: () => {
      rows.value = rows.value.filter(isOpen);
    },
  };
};

const newRow = ({ path, file }: Incoming): UploadRow =>
  file.size > uploadBytesMax
    ? { path, file, sent: 0, state: 'refused', problem: `The limit is ${byteSize(uploadBytesMax)}.` }
    : { path, file, sent: 0, state: 'waiting', problem: '' };

/** With the advice of a refusal. */
const problemOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  const advice = error instanceof SallyportError ? error.suggestions : [];
  return [message, ...advice].map((text) => (text.endsWith('.') ? text : `${text}.`)).join(' ');
};
