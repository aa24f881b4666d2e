/**
 * Rows of a long table that are drawn: those in view and some before and after them, in steps, so that neither a search nor a
 * refresh costs more for a thousand rows than for fifty. A short table is drawn whole.
 *
 * Heights are measured where rows were drawn, and guessed from these elsewhere.
 */
import { computed, onBeforeUnmount, onMounted, onUpdated, type ShallowRef, shallowRef } from 'vue';

/** A table of up to so many rows is drawn whole: a find in the page then finds all of it. */
export const wholeRowsMax = 60;
const stepRows = 5;
/** Rows before and after those in view, in steps. */
const spareSteps = 1;
const guessedPx = 56;

export type DrawnRows = {
  readonly first: number;
  readonly end: number;
  /** Room of the rows that are not drawn, in pixels. */
  readonly abovePx: number;
  readonly belowPx: number;
};

/** Of the rows of these heights, those that a view from `topPx` to `bottomPx` needs. Pure. */
export const drawnRows = (
  heights: readonly number[],
  { topPx, bottomPx }: { readonly topPx: number; readonly bottomPx: number },
): DrawnRows => {
  const count = heights.length;
  if (count <= wholeRowsMax) return { first: 0, end: count, abovePx: 0, belowPx: 0 };
  const ends: number[] = [];
  let totalPx = 0;
  for (const px of heights) {
    totalPx += px;
    ends.push(totalPx);
  }
  const at = (px: number): number => {
    const found = ends.findIndex((end) => end > px);
    return found === -1 ? count - 1 : found;
  };
  const first = Math.max(0, (Math.floor(at(topPx) / stepRows) - spareSteps) * stepRows);
  const end = Math.min(count, (Math.floor(at(bottomPx) / stepRows) + 1 + spareSteps) * stepRows);
  return {
    first,
    end,
    abovePx: first === 0 ? 0 : (ends[first - 1] ?? 0),
    belowPx: totalPx - (ends[end - 1] ?? 0),
  };
};

/** Follows every scroller and the window. `body` holds the drawn rows alone. */
export const useDrawnRows = <Row>(
  rows: () => readonly Row[],
  keyOf: (row: Row) => string,
  body: Readonly<ShallowRef<HTMLElement | null>>,
) => {
  const measured = new Map<string, number>();
  const view = shallowRef({ topPx: 0, bottomPx: innerHeight });
  const isLong = (): boolean => rows().length > wholeRowsMax;
  const heights = (): readonly number[] => {
    const known = [...measured.values()];
    const usual = known.length === 0 ? guessedPx : known.reduce((sum, px) => sum + px, 0) / known.length;
    return rows().map((row) => measured.get(keyOf(row)) ?? usual);
  };
  const drawn = computed(() => drawnRows(isLong() ? heights() : rows().map(() => 0), view.value));

  const look = (): void => {
    if (body.value === null || !isLong()) return;
    const topPx = drawn.value.abovePx - body.value.getBoundingClientRect().top;
    view.value = { topPx, bottomPx: topPx + innerHeight };
  };
  /** From the top of a row to that of the next one: cards have room between them. */
  const measure = (): void => {
    if (body.value === null || !isLong()) return;
    const tops = Array.from(body.value.children, (row) => row.getBoundingClientRect().top);
    const shown = rows().slice(drawn.value.first, drawn.value.end);
    for (const [index, row] of shown.entries()) {
      const px = (tops[index + 1] ?? Number.NaN) - (tops[index] ?? Number.NaN);
      if (px > 0) measured.set(keyOf(row), px);
    }
  };
  const onScroll = { capture: true, passive: true } as const;
  onMounted(() => {
    measure();
    look();
    addEventListener('scroll', look, onScroll);
    addEventListener('resize', look);
  });
  onUpdated(measure);
  onBeforeUnmount(() => {
    removeEventListener('scroll', look, onScroll);
    removeEventListener('resize', look);
  });
  return { drawn, look };
};
