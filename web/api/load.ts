/**
 * State of a request for a template: the value, the failure, and whether it is loading. A later answer never loses to
 * an earlier one, and nothing arrives after the page is left.
 */
import { computed, onScopeDispose, type Ref, type ShallowRef, shallowRef, watch } from 'vue';

export type Loaded<Value> = {
  readonly value: ShallowRef<Value | undefined>;
  readonly error: ShallowRef<unknown>;
  readonly isLoading: Ref<boolean>;
  /** Keeps the old value until the new one is there. */
  readonly reload: () => Promise<void>;
};

export type LoadOptions = {
  /** Asks again now and then, while the page is looked at. */
  readonly everyMs?: number;
  /** Asks anew, without the old value, when this changes. */
  readonly on?: () => unknown;
};

/** `known` is the value so far: the first call comes before there is anything to read it from. */
export const useLoad = <Value>(
  fetchValue: (signal: AbortSignal, known: Value | undefined) => Promise<Value>,
  { everyMs, on }: LoadOptions = {},
): Loaded<Value> => {
  const value = shallowRef<Value>();
  const error = shallowRef<unknown>();
  const isLoading = shallowRef(false);
  let running: AbortController | undefined;

  const reload = async (): Promise<void> => {
    running?.abort();
    const mine = new AbortController();
    running = mine;
    isLoading.value = true;
    try {
      const fresh = await fetchValue(mine.signal, value.value);
      if (running !== mine) return;
      value.value = fresh;
      error.value = undefined;
    } catch (problem) {
      if (running === mine) error.value = problem;
    } finally {
      if (running === mine) isLoading.value = false;
    }
  };

  if (on)
    watch(on, () => {
      value.value = undefined;
      void reload();
    });
  const timer =
    everyMs === undefined
      ? undefined
      : setInterval(() => {
          if (document.visibilityState === 'visible' && !isLoading.value) void reload();
        }, everyMs);
  onScopeDispose(() => {
    clearInterval(timer);
    running?.abort();
    running = undefined;
  });
  void reload();
  return { value, error, isLoading, reload };
};

type PageOf<Item> = { readonly items: readonly Item[]; readonly next?: string | undefined };

export type Pages<Item> = {
  /** Undefined until the first page is there. */
  readonly items: ShallowRef<readonly Item[] | undefined>;
  readonly hasMore: Ref<boolean>;
  readonly error: ShallowRef<unknown>;
  readonly isLoading: Ref<boolean>;
  readonly more: () => Promise<void>;
  /** Reads as many pages as are shown: an item of a later page stays. */
  readonly reload: () => Promise<void>;
};

type Read = { readonly pages: number; readonly next: string | undefined };
const nothingRead: Read = { pages: 0, next: undefined };

/** A list that comes page by page, continued with the `next` of the page before. */
export const usePages = <Item>(
  fetchPage: (after: string | undefined, signal: AbortSignal) => Promise<PageOf<Item>>,
  { on }: Pick<LoadOptions, 'on'> = {},
): Pages<Item> => {
  let shown: Read = nothingRead;
  let isMore = false;
  const hasMore = shallowRef(false);
  const items = shallowRef<readonly Item[]>();
  const { error, isLoading, reload } = useLoad<void>(async (signal) => {
    const pagesMax = isMore ? shown.pages + 1 : shown.pages;
    let read = isMore ? shown : nothingRead;
    let all = isMore ? (items.value ?? []) : [];
    do {
      const page = await fetchPage(read.next, signal);
      read = { pages: read.pages + 1, next: page.next };
      all = [...all, ...page.items];
    } while (read.next !== undefined && read.pages < pagesMax);
    shown = read;
    items.value = all;
    hasMore.value = read.next !== undefined;
    isMore = false;
  });
  const restart = (): Promise<void> => {
    isMore = false;
    return reload();
  };
  if (on)
    watch(on, () => {
      items.value = undefined;
      shown = nothingRead;
      void restart();
    });
  return {
    items,
    hasMore,
    error,
    isLoading,
    more: () => {
      isMore = true;
      return reload();
    },
    reload: restart,
  };
};

export type Act<Given extends readonly unknown[]> = {
  /** True when it was done; a failure is in `error`. */
  readonly run: (...given: Given) => Promise<boolean>;
  readonly isBusy: Readonly<Ref<boolean>>;
  readonly error: ShallowRef<unknown>;
};

/** Something a person starts: once at a time, and a failure is kept to be shown where it was started. */
export const useAct = <Given extends readonly unknown[]>(
  act: (...given: Given) => Promise<unknown>,
): Act<Given> => {
  const { run, isBusy, error } = useRowAct((_row, ...given: Given) => act(...given));
  return { run: (...given) => run('', ...given), isBusy: computed(() => isBusy('')), error };
};

/** Where one notice is for several acts: a failure of one is over when another begins. */
export const clearFailures = (acts: readonly { readonly error: ShallowRef<unknown> }[]): void => {
  for (const { error } of acts) error.value = undefined;
};

export type RowAct<Given extends readonly unknown[]> = {
  readonly run: (row: string, ...given: Given) => Promise<boolean>;
  readonly isBusy: (row: string) => boolean;
  /** The last failure of any row. */
  readonly error: ShallowRef<unknown>;
};

/** The same for the rows of a list: once at a time for each row, and side by side for several. */
export const useRowAct = <Given extends readonly unknown[]>(
  act: (row: string, ...given: Given) => Promise<unknown>,
): RowAct<Given> => {
  const busy = shallowRef<ReadonlySet<string>>(new Set());
  const error = shallowRef<unknown>();
  const run = async (row: string, ...given: Given): Promise<boolean> => {
    if (busy.value.has(row)) return false;
    busy.value = new Set([...busy.value, row]);
    error.value = undefined;
    try {
      await act(row, ...given);
      return true;
    } catch (problem) {
      error.value = problem;
      return false;
    } finally {
      busy.value = new Set([...busy.value].filter((other) => other !== row));
    }
  };
  return { run, isBusy: (row) => busy.value.has(row), error };
};
