/** The header `Retry-After` of an answer of another server; what it does not say plainly counts as not said. */

/** Milliseconds of the header `Retry-After`: seconds, or a date (RFC 9110, 10.2.3). Undefined when it is neither. */
export const retryAfterMs = (header: unknown, now: number): number | undefined => {
  if (typeof header !== 'string' && typeof header !== 'number') return undefined;
  const seconds = header === '' ? Number.NaN : Number(header);
  if (seconds >= 0) return seconds * 1000;
  const date = /[a-z]/i.test(String(header)) ? Date.parse(String(header)) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
};
