import { afterEach, beforeEach, expect, test, vi } from 'vitest';
// Before a page is there, which it would draw on.
import { createApp, effectScope } from 'vue';

beforeEach(() => {
  const page = {
    ...{ addEventListener: () => undefined, removeEventListener: () => undefined },
    location: { origin: 'http://x.example', host: 'x.example', hash: '', pathname: '/', search: '' },
    history: { state: {}, pushState: () => undefined, replaceState: () => undefined },
    document: { addEventListener: () => undefined, querySelector: () => null, visibilityState: 'visible' },
  };
  for (const [name, value] of Object.entries({ ...page, window: page })) vi.stubGlobal(name, value);
});
afterEach(() => void vi.unstubAllGlobals());

/** Loaded when the page is there, which these modules look at. */
const load = async () => ({
  ...(await import('./router.ts')),
  ...(await import('./components/confirm-dialog.vue')),
});
test('the window names the page and its heading, and nothing after a sign-out', async () => {
  const { router } = await load();
  const { usePageHeading, useSessionTitle } = await import('./components/session-title.ts');
  const { usePageTitle } = await import('./shell/window.ts');
  const window = effectScope();
  const page = effectScope();
  createApp({})
    .use(router)
    .runWithContext(() => window.run(usePageTitle));
  const shown = async (): Promise<string> => {
    await new Promise((resolve) => setTimeout(resolve));
    return document.title;
  };
  await router.push('/nowhere');
  expect(await shown()).toBe('Not found · Sallyport');
  page.run(() => usePageHeading(() => 'Website'));
  expect(await shown()).toBe('Website · Not found · Sallyport');
  page.run(() => useSessionTitle(() => 'Fix the tests'));
  expect(await shown()).toBe('Fix the tests · Sallyport');
  page.stop();
  window.stop();
  expect(document.title).toBe('Sallyport');
});

const question = { title: 'Stop this session?', text: '', action: 'Stop session' };

test('a question is answered no when its page is left, and stays while the page is the same', async () => {
  const { confirm, router } = await load();
  await router.push('/nowhere/b');
  const answered = vi.fn();
  const answer = confirm(question).then(answered);
  await router.push('/nowhere/b?tab=logs');
  expect(answered).not.toHaveBeenCalled();
  await router.push('/nowhere/a');
  await answer;
  expect(answered).toHaveBeenCalledWith(false);
});

test('a question whether to leave stays open when the navigation before it is given up', async () => {
  const { confirm, dismissConfirmation, router } = await load();
  await router.push('/nowhere/b');
  const answers: Promise<boolean>[] = [];
  const stop = router.beforeEach(() => {
    const answer = confirm({ title: 'Discard changes?', text: '', action: 'Discard' });
    answers.push(answer);
    return answer;
  });
  const first = router.push('/nowhere/c');
  await vi.waitFor(() => expect(answers).toHaveLength(1), { timeout: 50_000 });
  const second = router.push('/nowhere/d');
  await first;
  const answered = vi.fn();
  void answers[1]?.then(answered);
  expect([await answers[0], answered.mock.calls]).toEqual([false, []]);
  stop();
  dismissConfirmation();
  await second;
  expect([answered.mock.calls, router.currentRoute.value.path]).toEqual([[[false]], '/nowhere/b']);
});
