/**
 * The path by which answers name a file, whatever steps a request spelt it with: relative to the workspace, empty for the
 * workspace itself, and absolute for a file elsewhere, such as one in the shared folder.
 */
import { posix } from 'node:path';

export const namedPath = (workspace: string, path: string): string => {
  const whole = posix.resolve(workspace, path);
  const named = posix.relative(workspace, whole);
  return named === '..' || named.startsWith('../') ? whole : named;
};
