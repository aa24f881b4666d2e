import { expect, test } from 'vitest';
import { cancelledIn } from './cancelled-requests.ts';

const cancel = (requestId: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId, reason: 'enough' },
});

test.each([
  ['one', cancel(7), [7]],
  ['an id that is a text', cancel('7'), ['7']],
  ['several in one body, each once', [cancel(1), { method: 'ping' }, cancel('1'), cancel(1)], [1, '1']],
  ['no more than ten', Array.from({ length: 12 }, (_, id) => cancel(id)), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
  ['another notification', { method: 'notifications/initialized' }, []],
  ['an id that is none', cancel({}), []],
  ['an id without end', cancel('x'.repeat(1001)), []],
  ['no params', { method: 'notifications/cancelled' }, []],
])('%s', (_, body, ids) => {
  expect(cancelledIn(JSON.stringify(body))).toEqual(ids);
});

test('what is no JSON, or far too long, names none', () => {
  expect(cancelledIn('notifications/cancelled {')).toEqual([]);
  expect(cancelledIn(JSON.stringify([cancel(1), 'x'.repeat(70_000)]))).toEqual([]);
});
