/** Runs code with a working folder and variables of its own, which end with it: later code finds them as they were before. */
import type { InterpreterRequest } from '../../wire/program-messages.ts';
import type { Ended } from './run-code.ts';

export const runPlaced = async (
  { cwd, env = {} }: Pick<InterpreterRequest, 'cwd' | 'env'>,
  variables: NodeJS.ProcessEnv,
  run: () => Promise<Ended>,
): Promise<Ended> => {
  const folder = cwd === undefined ? undefined : currentFolder();
  try {
    if (cwd !== undefined) process.chdir(cwd);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { exitCode: 1, errorText: `cwd: ${cwd}: ${code}\n`, errorLine: `Error: ${code}: no such folder` };
  }
  const before = Object.keys(env).map((name) => [name, variables[name]] as const);
  Object.assign(variables, env);
  try {
    return await run();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete variables[name];
      else variables[name] = value;
    }
    if (folder !== undefined) enter(folder);
  }
};

/** Undefined when code deleted it. */
const currentFolder = (): string | undefined => {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
};

const enter = (folder: string): void => {
  try {
    process.chdir(folder);
  } catch {
    // The code deleted the folder that it was in before.
  }
};
