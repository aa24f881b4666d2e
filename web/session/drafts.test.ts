import { afterEach, beforeEach, expect, test, vi } from 'vitest';
// Before a page is there, which it would draw on.
import 'vue';

let stored: Map<string, string>;

beforeEach(() => {
  stored = new Map();
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  });
  vi.stubGlobal('location', { origin: 'http://x.example', hash: '', pathname: '/', search: '' });
  vi.stubGlobal('fetch', async () => Response.json({ scope: 'admin', may: [] }));
});
afterEach(() => void vi.unstubAllGlobals());

/** Loaded when the page is there, which these modules look at. */
const load = async () => ({
  ...(await import('../access/access.ts')),
  ...(await import('../access/remembered.ts')),
  ...(await import('./drafts.ts')),
});

test('each session has a draft of its own, and so has the next one', async () => {
  const { draftOf, newSession, restoreDraft, setDraft, useDraft } = await load();
  let shown = 'a';
  const text = useDraft(() => shown);
  text.value = 'half a thought';
  setDraft(newSession, 'another');
  expect([draftOf('a'), draftOf('b'), draftOf(newSession)]).toEqual(['half a thought', '', 'another']);
  shown = 'b';
  expect(useDraft(() => shown).value).toBe('');
  restoreDraft('a', 'first');
  expect(draftOf('a')).toBe('first\nhalf a thought');
  for (const session of ['a', newSession]) setDraft(session, '');
});

test('drafts are stored for a reload, and not once they are sent', async () => {
  const { rememberedDrafts, setDraft } = await load();
  setDraft('a', 'one');
  setDraft('b', 'two');
  expect([...rememberedDrafts()]).toEqual([
    ['a', 'one'],
    ['b', 'two'],
  ]);
  setDraft('a', '');
  setDraft('b', '');
  expect([...stored.keys()]).toEqual([]);
});

test('a sign-out forgets drafts, and those that are stored', async () => {
  const { draftOf, setDraft, signInWith, signOut } = await load();
  await signInWith('sp_x');
  setDraft('a', 'a secret');
  signOut();
  expect(draftOf('a')).toBe('');
  expect([...stored.values()].join()).not.toContain('a secret');
});

test('fifty drafts are kept, of which the newest may have any length', async () => {
  const { draftOf, rememberedDrafts, setDraft } = await load();
  for (let session = 0; session < 60; session += 1) setDraft(`s${session}`, 'text');
  expect(rememberedDrafts().size).toBe(50);
  expect([draftOf('s9'), draftOf('s10')]).toEqual(['', 'text']);
  setDraft('long', 'x'.repeat(1_600_000));
  expect([draftOf('s59'), draftOf('long').length]).toEqual(['', 1_600_000]);
  setDraft('s59', 'text');
  expect([...rememberedDrafts().keys()]).toEqual(['s59']);
  setDraft('s59', '');
});

test('a draft for which the browser has no room leaves no earlier one behind', async () => {
  const { rememberedDrafts, setDraft } = await load();
  setDraft('a', 'one');
  vi.stubGlobal('sessionStorage', {
    ...sessionStorage,
    setItem: () => {
      throw new Error('quota');
    },
  });
  setDraft('a', 'two');
  expect([...rememberedDrafts()]).toEqual([]);
  setDraft('a', '');
});
