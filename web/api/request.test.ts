import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { api } from '#sdk/routes.ts';
import { answerSilenceMsMax } from '#shared/domain/limits.ts';
import { request } from './request.ts';

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('location', { origin: 'http://x.example' });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A server that answers after this time, unless the request is given up before. */
const answerAfter = (ms: number) =>
  vi.stubGlobal(
    'fetch',
    (_: string, { signal }: { readonly signal: AbortSignal }) =>
      new Promise<Response>((answer, fail) => {
        signal.addEventListener('abort', () => fail(signal.reason));
        setTimeout(() => answer(Response.json({ processId: 'p1' }, { status: 201 })), ms);
      }),
  );
const start = () =>
  request(api.startProcess, { params: { id: 's1' }, body: { command: 'bash' } }).catch((error) => error);

test('an answer of the longest silence that a server allows itself is waited for, and some time on the way', async () => {
  answerAfter(answerSilenceMsMax + 10_000);
  const started = start();
  await vi.advanceTimersByTimeAsync(answerSilenceMsMax + 10_000);
  expect(await started).toEqual({ processId: 'p1' });
});

test('a server that stays silent for longer is told as one that does not answer', async () => {
  answerAfter(answerSilenceMsMax * 2);
  const started = start();
  await vi.advanceTimersByTimeAsync(answerSilenceMsMax * 2);
  expect(await started).toMatchObject({ code: 'unreachable', message: 'The server does not answer.' });
});
