/** Times of schedules in UTC and in the local time zone. */
const utcFormat = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});
const localFormat = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});

export const zoneName = localFormat.resolvedOptions().timeZone;
export const isUtcHere = ['UTC', 'Etc/UTC', 'GMT'].includes(zoneName);

/** `Mon, 5 Jan 2026, 09:00 UTC`. */
export const utcTime = (atMs: number): string => `${utcFormat.format(atMs)} UTC`;
export const localTime = (atMs: number): string => localFormat.format(atMs);
