import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { answerWithEvents } from './output-stream.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const source = (end: (controller: ReadableStreamDefaultController<Uint8Array>) => void) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(Buffer.from('event: start\n\n'));
    },
    pull: end,
  });
const heard = async (...[from, atEnd]: Parameters<typeof answerWithEvents>) => {
  const { body } = answerWithEvents(from, atEnd);
  return new Response(body).text().catch((error: Error) => error.message);
};
const closed = () => source((controller) => controller.close());

test.each<[string, () => Promise<string>, string]>([
  ['that ends', () => heard(closed()), 'event: start\n\n'],
  [
    'that breaks off',
    () => heard(source((stream) => stream.error(new Error('the sandbox died')))),
    'the sandbox died',
  ],
  [
    'whose end fails',
    () => heard(closed(), () => Promise.reject(new Error('nothing was saved'))),
    'nothing was saved',
  ],
])('an answer %s leaves no timer behind', async (_which, answer, text) => {
  expect([await answer(), vi.getTimerCount()]).toEqual([text, 0]);
});

test('an answer whose reader leaves leaves no timer behind', async () => {
  const { body } = answerWithEvents(new ReadableStream());
  if (typeof body === 'string') throw new Error('it is no stream');
  expect(vi.getTimerCount()).toBe(1);
  await body.cancel();
  expect(vi.getTimerCount()).toBe(0);
});
