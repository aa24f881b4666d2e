/**
 * Runs of a text without a space. In a font with kerning a browser shapes the rest of a long run again for each line that it
 * breaks: 50 KB of base64 took seconds. Each character is read once, also of a text that grows. Pure.
 */
export type Runs = {
  /** Characters since the last space. */
  readonly last: number;
  readonly hasLong: boolean;
};

const runCharactersMax = 500;

export const noRuns: Runs = { last: 0, hasLong: false };

/** With the text that follows. */
export const addRuns = (runs: Runs, text: string): Runs => {
  if (runs.hasLong) return runs;
  const [first = '', ...others] = text.split(/\s/);
  const lengths = [runs.last + first.length, ...others.map(({ length }) => length)];
  return { last: lengths.at(-1) ?? 0, hasLong: lengths.some((length) => length > runCharactersMax) };
};

/** An item of the conversation. */
type Readable = {
  readonly kind: string;
  readonly text?: string;
  readonly message?: string;
  readonly stream?: { readonly runs: Runs } | null;
};

const known = new WeakMap<Readable, boolean>();

export const hasLongRun = (item: Readable): boolean => {
  if (item.stream) return item.stream.runs.hasLong;
  const before = known.get(item);
  if (before !== undefined) return before;
  const { hasLong } = addRuns(noRuns, item.text ?? item.message ?? '');
  known.set(item, hasLong);
  return hasLong;
};
