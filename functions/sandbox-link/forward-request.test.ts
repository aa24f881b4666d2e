/** Answers that do not end by themselves. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { outputStreamMsMax } from '#shared/domain/limits.ts';
import { forwardRequest } from './forward-request.ts';

const telemetry = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  count: () => undefined,
  duration: () => undefined,
};
const opened: (() => unknown)[] = [];
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => {
  vi.useRealTimers();
  for (const close of opened.splice(0)) close();
});

/** An answer of which the first bytes have come, and whether its sandbox was left. */
const openAnswer = async (contentType: string) => {
  const left = Promise.withResolvers<string>();
  const server = createServer((_request, response) => {
    response.once('close', () => left.resolve('left'));
    response.writeHead(200, { 'content-type': contentType }).write('data: 1\n\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const target = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const call = {
    kind: 'fetch',
    address: target.origin,
    method: 'GET',
    path: '/ports/8000/',
    headers: {},
  } as const;
  const { body } = await forwardRequest(call, { target, telemetry });
  if (typeof body === 'string') throw new Error('it is no stream');
  const reader = body.getReader();
  expect(Buffer.from((await reader.read()).value).toString()).toBe('data: 1\n\n');
  return { reader, left: left.promise };
};

test.each(['text/event-stream', 'Text/Event-Stream; charset=utf-8'])(
  'a page that sends %s for ever ends before the function does',
  async (contentType) => {
    const { reader, left } = await openAnswer(contentType);
    const last = reader.read();
    await vi.advanceTimersByTimeAsync(outputStreamMsMax);
    expect([(await last).done, await left, vi.getTimerCount()]).toEqual([true, 'left', 0]);
  },
);

test('an answer that is no stream of events is not cut', async () => {
  const { reader } = await openAnswer('video/mp4');
  expect(vi.getTimerCount()).toBe(0);
  await reader.cancel();
});
