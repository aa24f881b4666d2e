/** The lines at the end of a start: they name limits of sandboxes that the kernel does not hold. */
import { expect, test } from 'vitest';
import { addressLines } from './address-lines.ts';

const kept = { home: '/data', token: 'sp_1' };
const url = 'http://127.0.0.1:1';
const usual = [
  'Sallyport is ready at http://127.0.0.1:1',
  'Open http://127.0.0.1:1/#token=sp_1',
  'Data is in /data, logs are in /data/logs/functions.log. Stop with Ctrl-C.',
];

test('limits that are best effort are said, behind the usual lines', () => {
  const lines = addressLines({ url, limits: 'best effort' }, kept);
  expect(lines.slice(0, -1)).toEqual(usual);
  expect(lines.at(-1)).toMatch(/^Limits of sandboxes are best effort: /);
});

test.each(['enforced', 'none'] as const)('nothing is said of limits that are %s', (limits) => {
  expect(addressLines({ url, limits }, kept)).toEqual(usual);
});
