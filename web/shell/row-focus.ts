/**
 * The focus in a list whose rows leave or move: it stays at its control, or goes to the same control of the row that took
 * the place, or to the page.
 *
 * Without it a removed row leaves the focus nowhere, and a screen reader begins again at the top. A long table is not
 * watched: its rows leave when it is scrolled, and come back.
 */
import { onMounted, onUnmounted, type ShallowRef } from 'vue';

const controls = 'a[href], button, input, select, textarea, [tabindex="0"]';
const controlsOf = (row: Element): readonly HTMLElement[] => [...row.querySelectorAll<HTMLElement>(controls)];

type Place = {
  readonly control: HTMLElement;
  /** Of the control among those of its row. */
  readonly index: number;
};

const placeOf = (control: EventTarget | null): Place | undefined => {
  if (!(control instanceof HTMLElement) || control.closest('[aria-rowcount]')) return undefined;
  const row = control.closest('tr, li');
  return row === null ? undefined : { control, index: controlsOf(row).indexOf(control) };
};

/** The row beside one that left; Vue keeps empty texts between rows. */
const neighbour = ({ nextSibling, previousSibling }: MutationRecord): Element | null => {
  const [next, previous] = [nextSibling, previousSibling].map((node) =>
    node instanceof Element ? node : null,
  );
  return (
    next ??
    (nextSibling instanceof Text ? nextSibling.nextElementSibling : null) ??
    previous ??
    (previousSibling instanceof Text ? previousSibling.previousElementSibling : null)
  );
};

/** Watches the lists within `page`, which takes the focus where no row is left. */
export const useRowFocus = (page: Readonly<ShallowRef<HTMLElement | null>>): void => {
  let place: Place | undefined;
  const note = ({ target }: FocusEvent): void => {
    place = placeOf(target);
  };
  const follow = (records: readonly MutationRecord[]): void => {
    const left = place;
    if (left === undefined || document.activeElement !== document.body) return;
    const record = records.find(({ removedNodes }) =>
      [...removedNodes].some((node) => node.contains(left.control)),
    );
    if (record === undefined) return;
    const beside = neighbour(record);
    // Later, so that a page that moves the focus by itself has done so.
    requestAnimationFrame(() => {
      if (document.activeElement !== document.body) return;
      const rest = beside?.isConnected ? controlsOf(beside) : [];
      const next = left.control.isConnected ? left.control : rest[Math.min(left.index, rest.length - 1)];
      (next ?? page.value)?.focus({ preventScroll: true });
    });
  };
  const changes = new MutationObserver(follow);
  onMounted(() => {
    if (page.value === null) return;
    page.value.addEventListener('focusin', note);
    changes.observe(page.value, { childList: true, subtree: true });
  });
  onUnmounted(() => changes.disconnect());
};
