/**
 * Files chosen for the next message and their uploads to the workspace, each under a name of its own.
 *
 * Files beyond the limit of a message, those that are too large and images too large for a model are refused before they are sent. A message
 * goes with all of its files or not at all. Without a session they wait for `sendAll`.
 */
import { effectScope, type Ref, shallowRef, watch } from 'vue';
import { attachedImageBytesMax, attachmentsPerMessageMax } from '#shared/domain/attachment.ts';
import { rememberedFiles, rememberFiles } from '../../access/remembered.ts';
import { byteSize } from '../../components/format.ts';
import { uploadBytesMax } from '../sandbox/upload-limit.ts';

export type ChosenFile = {
  readonly file: File;
  readonly path: string;
  readonly sent: number;
  readonly state: 'waiting' | 'sending' | 'done' | 'failed' | 'refused';
  readonly problem: string;
};

export type Attachments = {
  readonly rows: Readonly<Ref<readonly ChosenFile[]>>;
  readonly add: (files: readonly File[]) => void;
  readonly remove: (row: ChosenFile) => void;
  /**
   * Uploads what is not there yet, and waits for uploads that run. The paths, or undefined: an upload failed, a file was refused, or, at
   * once, one was removed while this waited.
   */
  readonly sendAll: () => Promise<readonly string[] | undefined>;
  /** Another session takes them: each waits for `sendAll` again. */
  readonly restart: () => void;
  readonly clear: () => void;
};

/** Until they are removed, the message is held. */
export const hasRefused = (rows: readonly ChosenFile[]): boolean =>
  rows.some(({ state }) => state === 'refused');

const nameCharactersMax = 120;

/** `sessionId` is null until the session exists. */
export const useAttachments = (sessionId: () => string | null): Attachments => {
  const rows = shallowRef<readonly ChosenFile[]>([]);
  const stops = new Map<string, AbortController>();
  const running = new Set<Promise<void>>();
  const waits = new Set<(none: undefined) => void>();

  const change = (path: string, fields: Partial<ChosenFile>): void => {
    rows.value = rows.value.map((row) => (row.path === path ? { ...row, ...fields } : row));
  };
  const upload = async ({ path, file }: ChosenFile, id: string): Promise<void> => {
    const stop = new AbortController();
    stops.set(path, stop);
    const tell = (fields: Partial<ChosenFile>): void => {
      if (stops.get(path) === stop) change(path, fields);
    };
    tell({ state: 'sending', sent: 0, problem: '' });
    try {
      // Not of the first load.
      const { writeFile } = await import('../sandbox/workspace-files.ts');
      stop.signal.throwIfAborted();
      await writeFile(id, {
        ...{ path, content: file, signal: stop.signal },
        onProgress: (sent) => tell({ sent }),
      });
      tell({ state: 'done' });
    } catch (error) {
      tell({ state: 'failed', problem: error instanceof Error ? error.message : String(error) });
    }
  };
  const send = async (states: readonly ChosenFile['state'][]): Promise<void> => {
    const id = sessionId();
    const unsent = rows.value.filter(({ state }) => states.includes(state));
    if (id === null) return;
    for (const row of unsent) {
      const uploading = upload(row, id).finally(() => running.delete(uploading));
      running.add(uploading);
    }
    // Files may be added while these are sent.
    while (running.size > 0) await Promise.all(running);
  };
  const sendAll: Attachments['sendAll'] = () =>
    new Promise((resolve) => {
      waits.add(resolve);
      void send(['waiting', 'failed']).then(() => {
        waits.delete(resolve);
        const isWhole = rows.value.every(({ state }) => state === 'done');
        resolve(isWhole ? rows.value.map(({ path }) => path) : undefined);
      });
    });
  const add: Attachments['add'] = (files) => {
    const room = attachmentsPerMessageMax - rows.value.filter(({ state }) => state !== 'refused').length;
    rows.value = [...rows.value, ...files.map((file, index) => chosen(file, index < room))];
    void send(['waiting']);
  };
  const forget = (path: string): void => {
    stops.get(path)?.abort();
    stops.delete(path);
  };
  const drop = (dropped: readonly ChosenFile[]): void => {
    for (const { path } of dropped) forget(path);
    rows.value = rows.value.filter((row) => !dropped.some(({ path }) => path === row.path));
    if (dropped.length > 0) for (const end of waits) end(undefined);
  };
  return {
    rows,
    add,
    remove: (row) => drop([row]),
    sendAll,
    restart: () => {
      for (const { path } of rows.value) forget(path);
      rows.value = rows.value.map((row) =>
        row.state === 'refused' ? row : { ...row, state: 'waiting', sent: 0, problem: '' },
      );
    },
    clear: () => drop(rows.value),
  };
};

export type KeptAttachments = Attachments & {
  /** Names of files that went with a page, until others are chosen. */
  readonly lost: Readonly<Ref<readonly string[]>>;
  /** Drops the files, and keeps their names or none. */
  readonly lose: (isNamed: boolean) => void;
};

/** Files of a message box that a session or the new one has. Their names outlive the page, and a reload too. */
export const useKeptAttachments = (box: string, sessionId: () => string | null): KeptAttachments => {
  const own = useAttachments(sessionId);
  const lost = shallowRef(rememberedFiles(box));
  const remember = (names: string): void => {
    if (names !== '') lost.value = [];
    rememberFiles(box, names === '' ? lost.value : names.split('\n'));
  };
  // It belongs to no page.
  effectScope(true).run(() =>
    watch(() => own.rows.value.map(({ file }) => file.name).join('\n'), remember, { flush: 'sync' }),
  );
  const lose = (isNamed: boolean): void => {
    const names = isNamed ? [...lost.value, ...own.rows.value.map(({ file }) => file.name)] : [];
    own.clear();
    lost.value = names;
    rememberFiles(box, names);
  };
  return { ...own, lost, lose };
};

const chosen = (file: File, hasRoom: boolean): ChosenFile => {
  const name = file.name.slice(-nameCharactersMax).toWellFormed();
  const path = `attachments/${crypto.randomUUID().slice(0, 8)}-${name}`;
  const problem = hasRoom ? problemOf(file) : `A message takes at most ${attachmentsPerMessageMax} files.`;
  return { file, path, sent: 0, state: problem === '' ? 'waiting' : 'refused', problem };
};

const problemOf = ({ size, type }: File): string => {
  if (size > uploadBytesMax) return `The limit is ${byteSize(uploadBytesMax)}.`;
  return shownImages.has(type) && size > attachedImageBytesMax
    ? `An image for the model has at most ${byteSize(attachedImageBytesMax)}.`
    : '';
};

const shownImages: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
