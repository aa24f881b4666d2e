/**
 * Keys that act on a page. A key that decides or stops something is a chord with Alt; a key alone only shows or moves.
 *
 * Typed text is never taken for a key: in a text field a key alone does nothing, and a chord acts only where it types
 * nothing. Nothing acts while a dialog is open.
 */
import { onMounted, onUnmounted } from 'vue';

export type Shortcut = {
  /** As a keyboard says it, in lower case. */
  readonly key: string;
  readonly withAlt?: boolean;
  readonly label: string;
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

/** As they are written for a person, and for a screen reader. */
export const keyLabel = ({ key, withAlt = false }: Keys): string =>
  withAlt ? `Alt+${key.toUpperCase()}` : key;

const letter = /^[a-z]$/;

const isPressed = (event: KeyboardEvent, { key, withAlt = false }: Keys, isTyping: boolean): boolean => {
  if (event.ctrlKey || event.metaKey || event.altKey !== withAlt) return false;
  if (isTyping && !withAlt) return false;
  const typed = event.key.toLowerCase();
  if (typed === key) return !event.getModifierState('AltGraph');
  // On a Mac, Alt and a letter type another character: outside of a text field the key itself is meant.
  return withAlt && !isTyping && !letter.test(typed) && event.code === `Key${key.toUpperCase()}`;
};

const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
