import { afterEach, beforeEach, expect, test, vi } from 'vitest';
// Before a page is there, which it would draw on.
import 'vue';

/** Answers of the server to each question in turn, the last one for ever. */
let answers: Record<string, (() => Response)[]> = {};
const asked: string[] = [];
const channels: EventTarget[] = [];
/** A message of another tab of the browser. */
const hear = (data: object): void => {
  for (const channel of channels) channel.dispatchEvent(new MessageEvent('message', { data }));
};

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
      constructor() {
        super();
        channels.push(this);
      }
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
  channels.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const accessOf = (id: string) => (): Response =>
  Response.json({ scope: 'admin', name: 'ana', id, may: ['own:read', 'own:write'] });
const unauthenticated = (): Response =>
  Response.json({ error: { code: 'unauthenticated', message: 'no' } }, { status: 401 });

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

test.each([{}, { project: '11111111-1111-4111-8111-111111111111' }])(
  'a form begins with the project of the token, otherwise with the default one: %j',
  async (fields) => {
    answers = {
      auth: [auth(true, true)],
      access: [() => Response.json({ scope: 'admin', may: [], ...fields })],
    };
    const { unnamedProject } = await start();
    expect(unnamedProject.value).toBe(fields.project ?? '00000000-0000-4000-8000-000000000000');
  },
);

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

/** Signed in as one, with a text, and then no longer: the server refuses a request of another page. */
const endedWithText = async () => {
  answers = { auth: [auth(true, true)], access: [accessOf('ana-1')], projects: [unauthenticated] };
  const loaded = { ...(await start()), ...(await import('../session/drafts.ts')) };
  loaded.setDraft('s', 'half');
  const { request } = await import('../api/request.ts');
  const { api } = await import('#sdk/routes.ts');
  await request(api.listProjects).catch(() => undefined);
  expect(loaded.signIn.value).toEqual({ kind: 'signed-out', reason: 'Your sign-in has ended.' });
  return loaded;
};

test('a sign-in that ends by itself keeps what was not sent for the same person', async () => {
  const { signInWith, draftOf } = await endedWithText();
  await signInWith('not a token');
  answers['access'] = [accessOf('ana-1')];
  await signInWith(null);
  expect(draftOf('s')).toBe('half');
});

test('somebody else of the same name and scope never sees what was not sent', async () => {
  const { signInWith, signIn, draftOf } = await endedWithText();
  answers['access'] = [accessOf('ana-2')];
  const { watch } = await import('vue');
  const seen: string[] = [];
  watch(signIn, ({ kind }) => kind === 'signed-in' && seen.push(draftOf('s')), { flush: 'sync' });
  await signInWith('sp_other');
  expect([signIn.value.kind, seen]).toEqual(['signed-in', ['']]);
});

test('a sign-out after the end deletes what was not sent', async () => {
  const { signOut, signInWith, draftOf } = await endedWithText();
  signOut();
  answers['access'] = [accessOf('ana-1')];
  await signInWith(null);
  expect(draftOf('s')).toBe('');
});

test('a sign-out in another tab deletes what this one kept, also behind its end', async () => {
  const { signIn, signInWith, draftOf } = await endedWithText();
  hear({ ended: null });
  expect(signIn.value).toEqual({ kind: 'signed-out', reason: 'You signed out in another tab.' });
  answers['access'] = [accessOf('ana-1')];
  await signInWith(null);
  expect(draftOf('s')).toBe('');
});

test('a tab whose browser somebody else signs in with leaves with its texts', async () => {
  answers = { auth: [auth(true, true)], access: [accessOf('ana-1')] };
  const { signIn } = await start();
  const { setDraft, draftOf } = await import('../session/drafts.ts');
  setDraft('s', 'half');
  hear({ cookieOf: 'ana-1' });
  expect([signIn.value.kind, draftOf('s')]).toEqual(['signed-in', 'half']);
  hear({ cookieOf: 'bob-1' });
  expect([signIn.value, draftOf('s')]).toEqual([
    { kind: 'signed-out', reason: 'Somebody else has signed in with this browser.' },
    '',
  ]);
});

/** As a browser has it. */
const storeTexts = (stored: Map<string, string>): void =>
  void vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  });

test('texts without an owner end with the sign-in that ends', async () => {
  storeTexts(
    new Map([
      ['sallyport.drafts', JSON.stringify([['s', 'half']])],
      ['sallyport.token', 'sp_old'],
    ]),
  );
  answers = { auth: [auth(true, false)], access: [unauthenticated, accessOf('ana-2')] };
  const { signInWith, signIn } = await start();
  const { draftOf } = await import('../session/drafts.ts');
  await signInWith('sp_other');
  expect([signIn.value.kind, draftOf('s')]).toEqual(['signed-in', '']);
});

test('nothing is kept once every message was sent', async () => {
  storeTexts(new Map());
  const { hasTexts, rememberUnsent } = await import('./remembered.ts');
  rememberUnsent('s', [{ id: 'm', text: 'unsent' }]);
  expect(hasTexts()).toBe(true);
  rememberUnsent('s', []);
  expect(hasTexts()).toBe(false);
});

test('after a reload too, what was not sent is for the same person alone', async () => {
  storeTexts(new Map());
  const { rememberUnsent, rememberUnsavedFile } = await import('./remembered.ts');
  await endedWithText();
  rememberUnsent('s', [{ id: 'm', text: 'unsent' }]);
  rememberUnsavedFile({ sessionId: 's', path: 'a.txt', text: 'unsaved', version: null });
  for (const [id, texts] of [
    ['ana-1', ['half', 'unsent', 'unsaved']],
    ['ana-2', []],
  ] as const) {
    vi.resetModules();
    answers = { auth: [auth(true, true)], access: [accessOf(id)] };
    await start();
    const { draftOf } = await import('../session/drafts.ts');
    const { rememberedUnsent, rememberedUnsavedFile, hasTexts } = await import('./remembered.ts');
    expect(hasTexts()).toBe(texts.length > 0);
    const found = [draftOf('s'), rememberedUnsent('s')[0]?.text, rememberedUnsavedFile('s', 'a.txt')?.text];
    expect(found.filter(Boolean)).toEqual(texts);
  }
});
