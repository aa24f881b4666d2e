/**
 * Rows of a long table that are drawn: those in view and some before and after them, in steps, so that neither a search nor a
 * refresh costs more for a thousand rows than for fifty. A short table is drawn whole.
 *
 * Heights are measured where rows were drawn, and guessed from these elsewhere. A measurement may move the view, and a view may
 * draw rows that were not measured: both are done again until nothing changes, so that no room of undrawn rows stays in view.
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

/** Of heights that never agree with each other: so many corrections follow from one event. */
const correctionsMax = 8;
/** Less is a matter of rounding. */
const changePxMin = 0.5;
const differs = (one: number, other: number): boolean => Math.abs(one - other) >= changePxMin;

const isSame = (one: DrawnRows, other: DrawnRows): boolean =>
  one.first === other.first &&
  one.end === other.end &&
  !differs(one.abovePx, other.abovePx) &&
  !differs(one.belowPx, other.belowPx);

/** The known heights of the rows of a table, all of the same width. */
const heightsOf = () => {
  const measured = new Map<string, number>();
  const version = shallowRef(0);
  let widthPx = 0;
  return {
    /** Reads again after each change. */
    all: (keys: readonly string[]): readonly number[] => {
      void version.value;
      const known = [...measured.values()];
      const usual = known.length === 0 ? guessedPx : known.reduce((sum, px) => sum + px, 0) / known.length;
      return keys.map((key) => measured.get(key) ?? usual);
    },
    /** From the top of a row to that of the next one: cards have room between them. True if anything was new. */
    measure: (body: HTMLElement, keys: readonly string[]): boolean => {
      const { width } = body.getBoundingClientRect();
      // At another width all rows have other heights.
      if (differs(width, widthPx)) measured.clear();
      widthPx = width;
      const tops = Array.from(body.children, (row) => row.getBoundingClientRect().top);
      let isNew = false;
      for (const [index, key] of keys.entries()) {
        const px = (tops[index + 1] ?? Number.NaN) - (tops[index] ?? Number.NaN);
        if (!(px > 0) || !differs(px, measured.get(key) ?? 0)) continue;
        measured.set(key, px);
        isNew = true;
      }
      if (isNew) version.value += 1;
      return isNew;
    },
  };
};

/** Follows every scroller, the window, and whatever else moves the table. `body` holds the drawn rows alone. */
export const useDrawnRows = <Row>(
  rows: () => readonly Row[],
  keyOf: (row: Row) => string,
  body: Readonly<ShallowRef<HTMLElement | null>>,
) => {
  const heights = heightsOf();
  const view = shallowRef({ topPx: 0, bottomPx: innerHeight });
  const isLong = (): boolean => rows().length > wholeRowsMax;
  const drawn = computed<DrawnRows>((before) => {
    const next = drawnRows(isLong() ? heights.all(rows().map(keyOf)) : rows().map(() => 0), view.value);
    return before !== undefined && isSame(before, next) ? before : next;
  });

  const look = (): boolean => {
    if (body.value === null || !isLong()) return false;
    const topPx = drawn.value.abovePx - body.value.getBoundingClientRect().top;
    const bottomPx = topPx + innerHeight;
    if (!differs(topPx, view.value.topPx) && !differs(bottomPx, view.value.bottomPx)) return false;
    view.value = { topPx, bottomPx };
    return true;
  };
  const measure = (): boolean => {
    if (body.value === null || !isLong()) return false;
    const { first, end } = drawn.value;
    return heights.measure(body.value, rows().slice(first, end).map(keyOf));
  };

  /** A room can come into view without a scroll: what stands above the table has become smaller. */
  const rooms = new IntersectionObserver((seen) => {
    if (seen.some(({ isIntersecting }) => isIntersecting)) look();
  });
  const watchRooms = (): void => {
    rooms.disconnect();
    for (const room of body.value?.parentElement?.querySelectorAll(':scope > [aria-hidden]') ?? [])
      rooms.observe(room);
  };

  let corrections = 0;
  /** A new measurement is drawn before the view is looked at: the page still has the old heights. */
  const settle = (): void => {
    const isChanged = corrections < correctionsMax && (measure() || look());
    corrections = isChanged ? corrections + 1 : 0;
    if (!isChanged) watchRooms();
  };
  const onMove = (): void => {
    corrections = 0;
    look();
  };
  const onScroll = { capture: true, passive: true } as const;
  onMounted(() => {
    settle();
    addEventListener('scroll', onMove, onScroll);
    addEventListener('resize', settle);
  });
  onUpdated(settle);
  onBeforeUnmount(() => {
    rooms.disconnect();
    removeEventListener('scroll', onMove, onScroll);
    removeEventListener('resize', settle);
  });
  return { drawn, look };
};
