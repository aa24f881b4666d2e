/**
 * Keys that act in the chat. They are single letters, so they act only while nobody types, holds another key or has a
 * dialog open.
 */
import { onMounted, onUnmounted } from 'vue';

export type Shortcut = { readonly key: string; readonly label: string; readonly act: () => unknown };

export const useShortcuts = (shortcuts: () => readonly Shortcut[]): void => {
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented) return;
    if (isTyping(event.target) || document.querySelector('[role="dialog"], [role="alertdialog"]')) return;
    const found = shortcuts().find(({ key }) => key === event.key);
    if (found === undefined) return;
    event.preventDefault();
    found.act();
  };
  onMounted(() => addEventListener('keydown', onKey));
  onUnmounted(() => removeEventListener('keydown', onKey));
};

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
