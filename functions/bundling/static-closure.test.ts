/** The code that a start loads: not that of a chunk which is imported later. */
import { expect, test } from 'vitest';
import { loadedBy } from './static-closure.ts';

const output = (bytes: number, input: string, imports: readonly (readonly [string, string])[] = []) => ({
  ...{ bytes, exports: [] },
  inputs: { [input]: { bytesInOutput: bytes }, 'types.ts': { bytesInOutput: 0 } },
  imports: imports.map(([path, kind]) => ({
    path,
    kind: kind as 'import-statement',
    external: path.startsWith('node:'),
  })),
});

test('the entry and the chunks that it imports count once, the later ones do not', () => {
  const outputs = {
    'a/index.mjs': output(10, 'main.ts', [
      ['a/one.mjs', 'import-statement'],
      ['a/two.mjs', 'import-statement'],
      ['a/late.mjs', 'dynamic-import'],
      ['node:path', 'import-statement'],
    ]),
    'a/one.mjs': output(20, 'one.ts', [['a/two.mjs', 'import-statement']]),
    'a/two.mjs': output(30, 'two.ts', [['a/one.mjs', 'import-statement']]),
    'a/late.mjs': output(40, 'late.ts'),
  };
  const { bytes, inputs, builtins } = loadedBy({ outputs });
  expect(bytes).toBe(60);
  expect([...inputs].toSorted()).toEqual(['main.ts', 'one.ts', 'two.ts']);
  expect(builtins).toEqual(['path']);
});
