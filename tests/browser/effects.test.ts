/** The prompt for a call that was tried: what it removes comes first, and what is not shown is said. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { axe, openApp, phone, screenshot } from './browser.ts';
import { approve, ended, mayApprove, say } from './chat.ts';
import { goTo } from './looks.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

test.each([
  ['desktop', {}],
  ['phone', { viewport: phone, colorScheme: 'dark' }],
] as const)('on a %s', async (name, options) => {
  const page = await openApp(cloud, options);
  const { id } = await makeSession(cloud, { approvals: 'effect', flavor: 'micro' });
  await goTo(page, cloud, `/chat/${id}`);
  const effect = page.getByLabel('Effect');
  await say(
    page,
    '$ seq 1 30 > list.txt; echo old > z-gone.txt; head -c 3000 /dev/urandom > blob.bin; ln -s /etc/passwd to',
  );
  await effect.getByText('Files: 4 created.').waitFor();
  await effect.getByText('→ /etc/passwd').waitFor();
  await effect.getByText(/SHA-256 [0-9a-f]{16}…/).waitFor();
  await effect.getByText('No lines shown: binary').waitFor();
  // Colours of a button that is about to be enabled are between two states.
  await mayApprove(page);
  expect(await axe(page)).toEqual([]);
  await approve(page);
  await ended(page);
  await say(
    page,
    '$ rm z-gone.txt; sed -i "s/^15$/fifteen/" list.txt; for i in $(seq 1 60); do echo $i > f$i.txt; done; exit 3',
  );
  await effect.getByText('Files: 1 removed, 1 modified, 60 created.').waitFor();
  await effect.getByText('Exit code 3').waitFor();
  const changes = effect.locator('[data-change]');
  expect((await changes.nth(0).innerText()).split('\n')).toContain('-old');
  expect(await changes.nth(1).innerText()).toContain('+fifteen');
  expect(await changes.last().getAttribute('open')).toBeNull();
  await mayApprove(page);
  expect(await axe(page)).toEqual([]);
  await screenshot(page, `effect-${name}`);
  // The decision is in reach without scrolling the effect.
  const button = await page.getByRole('button', { name: 'Approve', exact: true }).boundingBox();
  expect((button?.y ?? Number.NaN) + (button?.height ?? 0)).toBeLessThan(page.viewportSize()?.height ?? 0);
  await approve(page);
  await ended(page, 2);
});

test('a call that is decided while its prompt reads it is not missed by the page', async () => {
  const page = await openApp(cloud);
  const { id } = await makeSession(cloud, { approvals: 'ask', flavor: 'micro' });
  await goTo(page, cloud, `/chat/${id}`);
  const [reads, decided, over] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  await page.route('**/api/sessions/*/approvals/*', async (route) => {
    if (route.request().method() !== 'GET') return route.continue();
    reads?.resolve();
    await decided?.promise;
    await route.continue().catch(() => undefined);
    await route
      .request()
      .response()
      .catch(() => null);
    over?.resolve();
  });
  await say(page, '$ true');
  await mayApprove(page);
  await reads?.promise;
  await approve(page);
  await ended(page);
  decided?.resolve();
  // A page that still waited for it complained of a call that is not there.
  await over?.promise;
});
