/**
 * Focus after a refused submit: the first field that the form marks as wrong, which also scrolls into view.
 *
 * Without it a long form that is refused for a field out of view seems to ignore its button, and a screen reader says nothing.
 */
import { nextTick } from 'vue';

export const focusRefusedFields = (page: Document): void => {
  page.addEventListener('submit', async ({ target: form }) => {
    // The form has marked its fields by then.
    await nextTick();
    if (form instanceof HTMLFormElement) form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  });
};
