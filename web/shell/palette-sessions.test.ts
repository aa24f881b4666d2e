import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { effectScope, nextTick, shallowRef } from 'vue';

let asked: string[];

/** Three pages of conversations, of which the last has the old one, and more sessions for programs than fit a page. */
const answerOf = (url: URL): object => {
  if (url.pathname.endsWith('/access')) return { scope: 'admin', may: ['own:read'] };
  if (url.pathname.endsWith('/auth')) return { login: false, signedIn: false };
  const [kind, after = '0'] = [url.searchParams.get('kind'), url.searchParams.get('after') ?? undefined];
  asked.push(`${kind} ${after}`);
  if (kind !== 'agent') return { sessions: [{ id: 'e', kind, title: 'program' }], next: '1' };
  const title = after === '2' ? 'an old report' : `page ${after}`;
  return {
    sessions: [{ id: after, kind, title }],
    ...(after === '2' ? {} : { next: `${Number(after) + 1}` }),
  };
};

beforeEach(() => {
  asked = [];
  vi.stubGlobal('location', { origin: 'http://x.example', hash: '', pathname: '/', search: '' });
  vi.stubGlobal('document', { addEventListener: () => undefined, visibilityState: 'visible' });
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('fetch', async (url: string) => Response.json(answerOf(new URL(url))));
});
afterEach(() => void vi.unstubAllGlobals());

test('an older conversation is read while few match what is typed, and none without a text', async () => {
  const { signInWith, startAccess } = await import('../access/access.ts');
  const { usePaletteSessions } = await import('./palette-sessions.ts');
  startAccess();
  await signInWith('sp_x');
  const typed = shallowRef('');
  const scope = effectScope();
  const found = scope.run(() =>
    usePaletteSessions(
      () => typed.value,
      (sessions) => sessions.some(({ title }) => title?.includes(typed.value)),
    ),
  );
  const titles = () => found?.sessions.value.map(({ title }) => title);
  await vi.waitFor(() => expect(titles()).toEqual(['page 0', 'program']));
  typed.value = 'page';
  await nextTick();
  await new Promise((later) => setTimeout(later, 400));
  expect(asked.toSorted()).toEqual(['agent 0', 'execution 0']);
  typed.value = 'report';
  await vi.waitFor(() => expect(titles()).toContain('an old report'), { timeout: 50_000 });
  expect(asked.toSorted()).toEqual(['agent 0', 'agent 1', 'agent 2', 'execution 0']);
  expect(found?.hasOlder.value).toBe(true);
  scope.stop();
});
