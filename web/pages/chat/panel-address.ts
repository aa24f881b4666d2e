/** The panel beside the conversation, as the address has it: `?panel=files&file=a.txt`. A reload and a link show the same. */
import { computed } from 'vue';
import { useRoute, useRouter } from 'vue-router';

const panels = ['files', 'changes', 'agents', 'terminal', 'preview', 'logs'] as const;
export type Panel = (typeof panels)[number];

const panelOf = (value: unknown): Panel | undefined => panels.find((panel) => panel === value);

export const usePanel = () => {
  const route = useRoute();
  const router = useRouter();
  const panel = computed(() => panelOf(route.query['panel']));
  const show = (wanted: Panel | undefined, file?: string): void => {
    const { panel: _, file: open, ...others } = route.query;
    const kept = file ?? open;
    const query =
      wanted === undefined ? others : { ...others, panel: wanted, ...(kept ? { file: kept } : {}) };
    void router.replace({ query });
  };
  return { panel, show };
};
