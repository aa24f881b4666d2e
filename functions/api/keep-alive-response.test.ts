/** An answer that takes long: its status is sent before it is known, and its failure is in its body. */
import { expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { answerWhenDone } from './keep-alive-response.ts';

const warned: string[] = [];
const telemetry = {
  ...{ info() {}, error() {}, count() {}, duration() {} },
  warn: (message: string) => void warned.push(message),
};
const lateOptions = { telemetry, requestId: 'r', silenceMs: 0 };
const failure = new AppError('sandbox_starting', 'the sandbox is still starting');

/** Work that ends only when the test says so. */
const deferred = () => {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  return { work: () => promise, resolve, reject };
};
const textOf = (body: string | ReadableStream) => new Response(body).text();

test('a quick answer is a plain one, and its failure has a status of its own', async () => {
  const quick = { telemetry, requestId: 'r' };
  expect(await answerWhenDone(async () => ({ a: 1 }), quick)).toMatchObject({
    statusCode: 200,
    body: '{"a":1}',
  });
  await expect(answerWhenDone(() => Promise.reject(failure), quick)).rejects.toBe(failure);
});

test('a slow answer begins with white space and ends with the value', async () => {
  const { work, resolve } = deferred();
  const { statusCode, headers, body } = await answerWhenDone(work, lateOptions);
  expect([statusCode, headers['content-type']]).toEqual([200, 'application/json']);
  resolve({ a: 1 });
  expect(await textOf(body)).toMatch(/^ +\{"a":1\}$/);
});

test('a failure after the status is the error body, and is logged', async () => {
  const { work, reject } = deferred();
  const { body } = await answerWhenDone(work, lateOptions);
  reject(failure);
  expect(JSON.parse(await textOf(body))).toMatchObject({
    error: { code: 'sandbox_starting', requestId: 'r' },
  });
  expect(warned).toEqual(['a request failed after its answer had begun']);
});

test('a reader that goes away ends nothing else', async () => {
  const { work, resolve } = deferred();
  const { body } = await answerWhenDone(work, lateOptions);
  if (typeof body === 'string') throw new Error('the answer was not slow');
  await body.cancel();
  resolve({ a: 1 });
  await expect(work()).resolves.toEqual({ a: 1 });
});
