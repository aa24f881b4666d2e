import { afterEach, beforeEach, expect, test, vi } from 'vitest';
// Before a page is there, which it would draw on.
import 'vue';

/** Answers of the server to each question in turn, the last one for ever. */
let answers: Record<string, (() => Response)[]> = {};
const asked: string[] = [];

const refusal = (): Response =>
  Response.json({ error: { code: 'rate_limited', message: 'too many requests' } }, { status: 429 });
const auth =
  (login: boolean, signedIn: boolean): (() => Response) =>
  () =>
    Response.json({ login, signedIn });
const access = (): Response => Response.json({ scope: 'admin', may: ['own:read', 'own:write'] });

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  vi.stubGlobal('location', { origin: 'http://x.example', hash: '', pathname: '/', search: '' });
  vi.stubGlobal(
    'BroadcastChannel',
    class extends EventTarget {
      postMessage() {}
      close() {}
    },
  );
  vi.stubGlobal('fetch', async (url: string) => {
    const path = url.replace('http://x.example/api/', '');
    asked.push(path);
    const [next = refusal, ...others] = answers[path] ?? [];
    if (others.length > 0) answers[path] = others;
    return next();
  });
  asked.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const start = async () => {
  const loaded = await import('./access.ts');
  loaded.startAccess();
  await vi.advanceTimersByTimeAsync(1000);
  return loaded;
};

test('a server that does not say at once how to sign in is asked again, and the form waits for it', async () => {
  answers = { auth: [refusal, refusal, auth(true, false)] };
  const { signIn, hasProvider } = await start();
  expect(signIn.value).toEqual({ kind: 'checking', problem: 'too many requests' });
  await vi.advanceTimersByTimeAsync(4000);
  expect([signIn.value, hasProvider.value]).toEqual([{ kind: 'signed-out', reason: null }, true]);
});

test('a browser that is signed in is so after a lost answer', async () => {
  answers = { auth: [refusal, auth(true, true)], access: [access] };
  const { signIn } = await start();
  await vi.advanceTimersByTimeAsync(4000);
  expect(signIn.value).toMatchObject({ kind: 'signed-in', access: { scope: 'admin' } });
});

test('a person who will not wait gives a token, and nothing signs in before it', async () => {
  answers = { auth: [refusal, refusal, auth(true, true)], access: [access] };
  const { signIn, signOut, hasProvider } = await start();
  signOut();
  expect(signIn.value).toEqual({ kind: 'signed-out', reason: null });
  await vi.advanceTimersByTimeAsync(10_000);
  expect([signIn.value.kind, hasProvider.value]).toEqual(['signed-out', true]);
  expect(asked).toEqual(['auth', 'auth', 'auth']);
});
