/** Keeps an edit from being lost unasked: before another file, another page, and the end of the tab. */
import { onBeforeUnmount, onMounted, type Ref } from 'vue';
import { onBeforeRouteLeave, onBeforeRouteUpdate } from 'vue-router';
import { confirm } from '../../components/confirmation.ts';

/** Resolves to whether what is unsaved may go; with nothing unsaved nobody is asked. */
export const useUnsaved = (isDirty: Ref<boolean>, path: () => string): (() => Promise<boolean>) => {
  const mayLeave = async (): Promise<boolean> => {
    if (!isDirty.value) return true;
    const isSure = await confirm({
      title: 'Drop your changes?',
      text: `${path()} is not saved.`,
      action: 'Drop',
      isDangerous: true,
    });
    if (isSure) isDirty.value = false;
    return isSure;
  };
  onBeforeRouteLeave(mayLeave);
  onBeforeRouteUpdate(mayLeave);
  // What a browser says before it closes a tab is its own.
  const holdTab = (event: BeforeUnloadEvent): void => {
    if (isDirty.value) event.preventDefault();
  };
  onMounted(() => addEventListener('beforeunload', holdTab));
  onBeforeUnmount(() => removeEventListener('beforeunload', holdTab));
  return mayLeave;
};
