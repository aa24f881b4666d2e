/** Confirmation before an unsaved edit is lost: by another file, another page, or closing the tab. */
import { onBeforeUnmount, onMounted, type Ref } from 'vue';
import { onBeforeRouteLeave, onBeforeRouteUpdate } from 'vue-router';
import { confirm } from '../../components/confirmation.ts';

/** Resolves to true when there is no unsaved edit or the user discards it. */
export const useUnsaved = (isDirty: Ref<boolean>, path: () => string): (() => Promise<boolean>) => {
  const mayLeave = async (): Promise<boolean> => {
    if (!isDirty.value) return true;
    const isSure = await confirm({
      title: 'Discard changes?',
      text: `${path()} has unsaved changes.`,
      action: 'Discard',
      isDangerous: true,
    });
    if (isSure) isDirty.value = false;
    return isSure;
  };
  onBeforeRouteLeave(mayLeave);
  onBeforeRouteUpdate(mayLeave);
  // The browser shows its own text before it closes the tab.
  const holdTab = (event: BeforeUnloadEvent): void => {
    if (isDirty.value) event.preventDefault();
  };
  onMounted(() => addEventListener('beforeunload', holdTab));
  onBeforeUnmount(() => removeEventListener('beforeunload', holdTab));
  return mayLeave;
};
