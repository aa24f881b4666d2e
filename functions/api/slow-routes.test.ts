/** Requests that save, adopt or start a sandbox: their answers begin before a proxy in front of the function ends them. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { answerSilenceMsMax } from '#shared/domain/limits.ts';
import { newSession } from '../../tests/conformance/session-fixture.ts';
import type { ApiEvent } from './api-route.ts';
import { type Api, routes } from './routes.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const session = newSession();
const never = (): Promise<never> => new Promise(() => undefined);
const silent = new Proxy({}, { get: () => never });
const known: Readonly<Record<string, unknown>> = {
  turns: { getWithTurn: async () => ({ session, turn: {} }) },
  world: { now: () => 0, uuid: () => crypto.randomUUID() },
};
/** The session is found, and nothing after it ends. */
const ports = new Proxy(known, { get: (target, name) => target[String(name)] ?? silent });
const api = { ports, settings: { lifetimes: {} }, limits: {}, snapshotsMax: 1 } as unknown as Api;

test.each([
  ['/api/sessions', { from: { session: session.id } }],
  ['/api/sessions/{id}/snapshots', {}],
  ['/api/sessions/{id}/restore', { snapshot: crypto.randomUUID() }],
  ['/api/sessions/{id}/pause', undefined],
  ['/api/mcp/{name}/test', undefined],
])('POST %s begins its answer in time', async (path, body) => {
  const event = {
    httpMethod: 'POST',
    pathParameters: { id: session.id, name: 'notes' },
    headers: {},
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    requestContext: { requestId: 'r' },
    principal: { kind: 'admin', scope: 'admin' },
  } as unknown as ApiEvent;
  const route = routes(api).find((one) => one.method === 'POST' && one.path === path);
  let answer: unknown;
  void route?.handler(event).then((value) => {
    answer = value;
  });
  await vi.advanceTimersByTimeAsync(answerSilenceMsMax - 1);
  expect(answer).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(answer).toMatchObject({ statusCode: 200, body: expect.any(ReadableStream) });
});
