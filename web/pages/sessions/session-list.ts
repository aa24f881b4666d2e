/** List of sessions, reloaded while visible; older ones load page by page. */
import { computed, shallowRef } from 'vue';
import { api, type Session } from '#sdk/routes.ts';
import { useLoad } from '../../api/load.ts';
import { request } from '../../api/request.ts';

const refreshMs = 4000;

export const useSessionList = () => {
  const pageCount = shallowRef(1);
  const loaded = useLoad(
    async (signal) => {
      const sessions: Session[] = [];
      let after: string | undefined;
      for (let page = 0; page < pageCount.value; page += 1) {
        const answer = await request(api.listSessions, { query: { after } }, { signal });
        sessions.push(...answer.sessions);
        after = answer.next;
        if (after === undefined) break;
      }
      return { sessions, hasMore: after !== undefined };
    },
    { everyMs: refreshMs },
  );
  const more = (): Promise<void> => {
    pageCount.value += 1;
    return loaded.reload();
  };
  return { ...loaded, sessions: computed(() => loaded.value.value?.sessions), more };
};
