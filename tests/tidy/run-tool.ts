/**
 * Runs a program of node_modules as an npm script would: same program, same Node, its own process.
 *
 * The exit code is a result, not a failure: these programs say by it what they found. One that says
 * nothing on stdout and still fails did not work at all.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { repositoryFolder } from './repository.ts';

export type ToolRun = { readonly exitCode: number; readonly output: string };

const outputBytesMax = 64 * 1_048_576;

export const runTool = (
  program: 'biome' | 'depcruise' | 'tsc',
  args: readonly string[],
  folder: string,
): Promise<ToolRun> =>
  new Promise((resolve, reject) => {
    const path = join(repositoryFolder, 'node_modules/.bin', program);
    const options = { cwd: folder, maxBuffer: outputBytesMax };
    execFile(process.execPath, [path, ...args], options, (error, output, complaint) => {
      if (error !== null && output === '')
        reject(new Error(`${program} did not run: ${complaint}`, { cause: error }));
      else resolve({ exitCode: error === null ? 0 : Number(error.code), output });
    });
  });
