/** Times, durations, sizes and amounts as short text. Pure. */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** `3 min ago`, `in 2 h`, `now`; a date when more than a month away. */
export const relativeTime = (atMs: number, nowMs: number): string => {
  const span = Math.abs(nowMs - atMs);
  if (span < 10_000) return 'now';
  if (span > 30 * dayMs) return localDay(atMs);
  if (atMs <= nowMs) return `${spanOf(span)} ago`;
  // Almost two days away is no longer tomorrow.
  return `in ${spanOf(span < dayMs ? span : span + dayMs / 2)}`;
};

/** In the reader's zone, as `2026-11-25`. */
export const localDay = (atMs: number): string => new Date(atMs).toLocaleDateString('sv');

/** In the reader's zone, as `14:03:09`. */
export const localClock = (atMs: number): string => new Date(atMs).toLocaleTimeString('sv');

/** Made once: to make one takes longer than to draw a row of a table. */
const zoneNames = new Intl.DateTimeFormat('en', { timeZoneName: 'short' });

/** In the reader's zone, with its name, as `2026-11-25 14:03:09 GMT+1`. */
export const exactTime = (atMs: number): string => {
  const zone = zoneNames.formatToParts(atMs).find(({ type }) => type === 'timeZoneName');
  return `${localDay(atMs)} ${localClock(atMs)} ${zone?.value ?? ''}`.trimEnd();
};

export const spanOf = (ms: number): string => {
  if (ms < minuteMs) return `${Math.floor(ms / 1000)} s`;
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`;
  if (ms < dayMs) return `${Math.floor(ms / hourMs)} h`;
  return `${Math.floor(ms / dayMs)} d`;
};

/** `0.4 s`, `12 s`, `3 min 20 s`. */
export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < minuteMs) return `${Math.round(ms / 1000)} s`;
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min ${Math.round((ms % minuteMs) / 1000)} s`;
  return `${Math.floor(ms / hourMs)} h ${Math.round((ms % hourMs) / minuteMs)} min`;
};

const sizes = ['B', 'KB', 'MB', 'GB', 'TB'];

export const byteSize = (bytes: number): string => {
  const step = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1024)), sizes.length - 1);
  const value = bytes / 1024 ** step;
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${sizes[step]}`;
};

/** Small amounts keep their significant digits. */
export const money = (usd: number): string => {
  if (usd === 0) return '$0.00';
  if (usd < 0.01) return `$${usd.toFixed(4)}`;
  return `$${usd.toFixed(2)}`;
};

/** In US dollars for a million tokens. */
export const tokenPrice = (usd: number): string =>
  `$${usd.toLocaleString('en', Number.isInteger(usd) ? {} : { minimumFractionDigits: 2, maximumFractionDigits: 3 })}`;

export type TokenPrices = { readonly input: number; readonly output: number };

/** The name of a model with its price, where it is known. */
export const pricedLabel = (name: string, price: TokenPrices | undefined): string => {
  if (price === undefined) return name;
  const isFree = price.input === 0 && price.output === 0;
  return `${name} · ${isFree ? 'free' : `${tokenPrice(price.input)} in, ${tokenPrice(price.output)} out`}`;
};

/** The cost so far, and the limit where there is one. */
export const spending = (costUsd: number, maxCostUsd: number | undefined): string =>
  maxCostUsd === undefined ? money(costUsd) : `${money(costUsd)} of ${money(maxCostUsd)}`;

export const count = (value: number): string => value.toLocaleString('en');
