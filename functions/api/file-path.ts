/** The path of a file in the path of a request, decoded and checked; the sandbox checks it once more. */
import { posix } from 'node:path';
import { filePathProblem } from '#shared/contracts/fields.ts';
import { AppError } from '#shared/errors.ts';
import type { ApiEvent } from './api-route.ts';

/** The gateway's own `proxy` parameter shadows the router's. */
const filesPrefix = /^\/api\/sessions\/[^/]+\/files\/?/;

/** The path of a workspace in every sandbox. */
const workspace = '/workspace';

/** The workspace itself when nothing follows. */
export const filePathOf = (event: ApiEvent): string => {
  const path = event.path.replace(filesPrefix, '');
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    throw new AppError('invalid_request', 'the path is not valid URL encoding');
  }
  return checkedPath(decoded === '' ? '.' : decoded);
};

/**
 * A path that leaves the workspace by its text is refused before a sandbox is started for it. One that stays inside loses its steps
 * `..`, as in the sandbox: the address of a request would lose them in another way.
 */
export const checkedPath = (path: string): string => {
  const problem = filePathProblem(path);
  if (problem !== undefined) throw new AppError('invalid_request', `it must be ${problem}`);
  if (!path.split('/').includes('..')) return path;
  const named = posix.relative(workspace, posix.resolve(workspace, path));
  if (!named.split('/').includes('..')) return withItsEnd(path, named);
  throw new AppError('path_outside_workspace', 'the path leaves the workspace', {
    suggestions: ['Give a path relative to /workspace.'],
  });
};

/** The slash at its end says that a path names a folder. */
const withItsEnd = (path: string, named: string): string => {
  if (named === '') return '.';
  return path.endsWith('/') ? `${named}/` : named;
};
