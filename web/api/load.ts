/**
 * State of a request for a template: the value, the failure, and whether it is loading. A later answer never loses to
 * an earlier one, and nothing arrives after the page is left.
 */
import { onScopeDispose, type Ref, type ShallowRef, shallowRef, watch } from 'vue';

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
  readonly reload: () => Promise<void>;
};

/** A list that comes page by page, continued with the `next` of the page before. */
export const usePages = <Item>(
  fetchPage: (after: string | undefined, signal: AbortSignal) => Promise<PageOf<Item>>,
  { on }: Pick<LoadOptions, 'on'> = {},
): Pages<Item> => {
  let next: string | undefined;
  let isMore = false;
  const hasMore = shallowRef(false);
  const items = shallowRef<readonly Item[]>();
  const { error, isLoading, reload } = useLoad<void>(async (signal) => {
    const page = await fetchPage(isMore ? next : undefined, signal);
    items.value = isMore ? [...(items.value ?? []), ...page.items] : page.items;
    next = page.next;
    hasMore.value = next !== undefined;
    isMore = false;
  });
  const restart = (): Promise<void> => {
    isMore = false;
    return reload();
  };
  if (on)
    watch(on, () => {
      items.value = undefined;
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
  readonly isBusy: Ref<boolean>;
  readonly error: ShallowRef<unknown>;
};

/** Something a person starts: once at a time, and a failure is kept to be shown where it was started. */
export const useAct = <Given extends readonly unknown[]>(
  act: (...given: Given) => Promise<unknown>,
): Act<Given> => {
  const isBusy = shallowRef(false);
  const error = shallowRef<unknown>();
  const run = async (...given: Given): Promise<boolean> => {
    if (isBusy.value) return false;
    isBusy.value = true;
    error.value = undefined;
    try {
      await act(...given);
      return true;
    } catch (problem) {
      error.value = problem;
      return false;
    } finally {
      isBusy.value = false;
    }
  };
  return { run, isBusy, error };
};
