import { cpSync, mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryFolder } from './repository.ts';
import { runTool } from './run-tool.ts';

/** Compiles one file with the settings of shared/domain, in a copy of the two folders that hold them. */
const compileInDomain = async (text: string): Promise<readonly string[]> => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'domain-locks-'));
  for (const settings of ['tsconfig.base.json', 'shared/domain/tsconfig.json'])
    cpSync(join(repositoryFolder, settings), join(folder.path, settings));
  writeFileSync(join(folder.path, 'shared/domain/sample.ts'), text);
  const { output } = await runTool('tsc', ['-p', 'shared/domain', '--pretty', 'false'], folder.path);
  return Array.from(output.matchAll(/Cannot find name '(\w+)'/g), ([, name = '']) => name);
};

test('the core compiles without any library', async () => {
  expect(await compileInDomain('export const sum = [1, 2].reduce((a, b) => a + b, 0);\n')).toEqual([]);
});

test('the core has no name for a process, a network, a timer or bytes of Node', async () => {
  const outside = ['process', 'fetch', 'setTimeout', 'Buffer'];
  expect(await compileInDomain(`export const outside = [${outside.join(', ')}];\n`)).toEqual(outside);
});
