/**
 * The plain path: how an archive names an entry, relative to the workspace and in one way only.
 *
 * No empty step, no `.` and no `..`, no NUL, not absolute: what such a path names lies under its root unless a
 * link stands in between.
 */
export const isPlainPath = (path: string): boolean =>
  !path.includes('\0') && path.split('/').every((step) => step !== '' && step !== '.' && step !== '..');
