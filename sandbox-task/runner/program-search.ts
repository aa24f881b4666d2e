/**
 * Whether a program can be started, in the words and codes of a shell (POSIX, 2.8.2): 127 when there is none
 * of that name, 126 when it may not be run.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { searchPath } from './user-process.ts';

export type StartRefusal = { readonly exitCode: 126 | 127; readonly message: string };

const nameCharactersMax = 200;

/** Nothing when it can be started in this folder. */
export const refuseProgram = (
  program: string,
  folder: string,
  path: string = searchPath({}),
): StartRefusal | undefined => {
  const isPath = program.includes('/');
  const places = isPath
    ? [resolve(folder, program)]
    : path.split(':').map((searched) => resolve(folder, searched, program));
  const kinds = places.map(kindOf);
  if (program !== '' && kinds.includes('program')) return undefined;
  const name = program.slice(0, nameCharactersMax);
  if (program !== '' && kinds.includes('denied'))
    return { exitCode: 126, message: `${name}: Permission denied\n` };
  return {
    exitCode: 127,
    message: `${name}: ${isPath ? 'No such file or directory' : 'command not found'}\n`,
  };
};

const kindOf = (path: string): 'program' | 'denied' | 'absent' => {
  try {
    if (!statSync(path).isFile()) return 'denied';
    accessSync(path, constants.X_OK);
    return 'program';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'denied' : 'absent';
  }
};
