/**
 * Keyboard shortcuts of a page. A shortcut that decides or stops something needs Alt; a single key only navigates.
 *
 * Typed text never triggers a shortcut: single keys are ignored in a text field, and an Alt chord acts only where it
 * types no character. Shortcuts are disabled while a dialog is open.
 */
import { onMounted, onUnmounted } from 'vue';

export type Shortcut = {
  /** `KeyboardEvent.key`, in lower case. */
  readonly key: string;
  readonly withAlt?: boolean;
  readonly act: () => unknown;
};

type Keys = Pick<Shortcut, 'key' | 'withAlt'>;

export const useShortcuts = (shortcuts: () => readonly Shortcut[]): void => {
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.repeat || event.isComposing) return;
    if (document.querySelector('[role="dialog"], [role="alertdialog"]')) return;
    const isTyping = isTextField(event.target);
    const found = shortcuts().find((keys) => isPressed(event, keys, isTyping));
    if (found === undefined) return;
    event.preventDefault();
    found.act();
  };
  onMounted(() => addEventListener('keydown', onKey));
  onUnmounted(() => removeEventListener('keydown', onKey));
};

const letter = /^[a-z]$/;

const isPressed = (event: KeyboardEvent, { key, withAlt = false }: Keys, isTyping: boolean): boolean => {
  if (event.ctrlKey || event.metaKey || event.altKey !== withAlt) return false;
  if (isTyping && !withAlt) return false;
  const typed = event.key.toLowerCase();
  if (typed === key) return !event.getModifierState('AltGraph');
  // On a Mac, Alt with a letter types another character; outside a text field the physical key counts.
  return withAlt && !isTyping && !letter.test(typed) && event.code === `Key${key.toUpperCase()}`;
};

const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
