/** Title and icon of the window: both show the number of pending approvals. */
import { computed, watch } from 'vue';
import { useRoute } from 'vue-router';
import { waitingCalls } from '../session/live-session.ts';
import { waitingCount } from '../waiting/waiting-count.ts';

/** Pending approvals of all sessions, or of the open one while the total is unknown. */
export const waitingShown = computed(() => waitingCount.value ?? waitingCalls.value);

export const documentTitle = (title: string): string => `${title} · Sallyport`;

const markedIcon = new URL('../favicon-waiting.svg', import.meta.url).href;

export const usePageTitle = (): void => {
  const route = useRoute();
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const plainIcon = icon?.href ?? '';
  watch(
    () => [route.meta.title, waitingShown.value] as const,
    ([title, waiting]) => {
      document.title = documentTitle(waiting > 0 ? `(${waiting}) ${title}` : title);
      if (icon) icon.href = waiting > 0 ? markedIcon : plainIcon;
    },
  );
};
