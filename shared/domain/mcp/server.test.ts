import { expect, test } from 'vitest';
import { keepTools, leftOutNote } from './server.ts';

const tool = (name: string, description = '') => ({ name, description, inputSchema: { type: 'object' } });

test('a few tools are stored completely', () => {
  const tools = [tool('b'), tool('a')];
  expect(keepTools(tools)).toEqual({ tools, leftOut: 0 });
  expect(leftOutNote(keepTools(tools))).toBeUndefined();
});

test('a hundred are stored, with the number of dropped ones', () => {
  const kept = keepTools(Array.from({ length: 103 }, (_, index) => tool(`t${index}`)));
  expect([kept.tools.length, kept.tools.at(-1)?.name, kept.leftOut]).toEqual([100, 't99', 3]);
  expect(leftOutNote(kept)).toBe(
    '3 of its tools are left out: at most 100 tools of different names and 262144 bytes are kept',
  );
});

test('one that does not fit gives way to a smaller one after it', () => {
  const kept = keepTools([
    tool('first', 'x'.repeat(200_000)),
    tool('large', 'x'.repeat(100_000)),
    tool('small'),
  ]);
  expect(kept.tools.map(({ name }) => name)).toEqual(['first', 'small']);
  expect(kept.leftOut).toBe(1);
});

test('256 KB are stored to the byte, and no more', () => {
  const exact = (more: number) => {
    const empty = JSON.stringify([tool('t')]).length;
    return [tool('t', 'x'.repeat(262_144 - 1 - empty + more))];
  };
  expect(keepTools(exact(0)).leftOut).toBe(0);
  expect(keepTools(exact(1)).leftOut).toBe(1);
});

test('of two tools of one name the first is stored', () => {
  expect(keepTools([tool('a', '1'), tool('a', '2')])).toEqual({ tools: [tool('a', '1')], leftOut: 1 });
});
