/** The scenario as a module in JavaScript, for runtimes without types. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transform } from 'esbuild';

export const scenarioScript = async (): Promise<string> => {
  const source = await readFile(join(import.meta.dirname, 'scenario.ts'), 'utf8');
  return (await transform(source, { loader: 'ts', target: 'es2022' })).code;
};
