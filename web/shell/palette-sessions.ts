/**
 * Sessions that the palette looks through: the newest conversations and the newest sessions for programs, which are listed apart so
 * that many of one kind hide none of the other. While few match what is typed, older conversations are read.
 */
import { computed, type Ref, watch } from 'vue';
import { api, type Session } from '#sdk/routes.ts';
import { may } from '../access/access.ts';
import { usePages } from '../api/load.ts';
import { request } from '../api/request.ts';

export type PaletteSessions = {
  readonly sessions: Readonly<Ref<readonly Session[]>>;
  /** There are older ones, which were not looked through. */
  readonly hasOlder: Readonly<Ref<boolean>>;
  readonly error: Readonly<Ref<unknown>>;
};

/** Of conversations, with 100 each. */
const pagesMax = 20;
/** After the last key. */
const pauseMs = 250;

export const usePaletteSessions = (
  typed: () => string,
  isEnough: (sessions: readonly Session[]) => boolean,
): PaletteSessions => {
  const [chats, programs] = [sessionsOf('agent'), sessionsOf('execution')];
  let pages = 1;
  const readOn = (): void => {
    if (typed() === '' || !chats.hasMore.value || pages >= pagesMax) return;
    if (chats.isLoading.value || isEnough(chats.items.value ?? [])) return;
    pages += 1;
    void chats.more();
  };
  watch([typed, chats.items], (_, __, onCleanup) => {
    const timer = setTimeout(readOn, pauseMs);
    onCleanup(() => clearTimeout(timer));
  });
  return {
    sessions: computed(() => [...(chats.items.value ?? []), ...(programs.items.value ?? [])]),
    hasOlder: computed(() => chats.hasMore.value || programs.hasMore.value),
    error: computed(() => chats.error.value ?? programs.error.value),
  };
};

const sessionsOf = (kind: Session['kind']) =>
  usePages(async (after, signal) => {
    if (!may('own:read')) return { items: [] };
    const { sessions, next } = await request(api.listSessions, { query: { kind, after } }, { signal });
    return { items: sessions, next };
  });
