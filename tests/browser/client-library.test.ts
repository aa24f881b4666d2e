/** The client library in a page, as a module without a bundler, on connections that break off. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { unpackPackage } from '../sdk/installed-package.ts';
import { startCuttingProxy } from '../sdk/runtimes/cutting-proxy.ts';
import { expected } from '../sdk/runtimes/scenario.ts';
import { scenarioScript } from '../sdk/runtimes/scenario-script.ts';
import { newPage } from './browser.ts';

const program = (token: string): string => `
import * as library from '/library.js';
import { runScenario } from '/scenario.js';
globalThis.outcome = runScenario(library, { url: location.origin, token: ${JSON.stringify(token)} });
`;

const html =
  '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/program.js"></script>';

test('a page of the same origin uses all of it', async () => {
  await using installed = await unpackPackage();
  const cloud = await openEmbeddedCloud();
  try {
    await using proxy = await startCuttingProxy(cloud.url);
    const script = 'text/javascript';
    proxy.serve('/library.js', {
      type: script,
      text: await readFile(installed.path('dist', 'main.js'), 'utf8'),
    });
    proxy.serve('/scenario.js', { type: script, text: await scenarioScript() });
    proxy.serve('/program.js', { type: script, text: program(cloud.token) });
    proxy.serve('/page.html', { type: 'text/html', text: html });
    const page = await newPage(proxy.url, { expects: /^Failed to load resource|^WebSocket connection/ });
    Object.assign(proxy.cuts, { streams: 4, sockets: 1 });
    await page.goto(`${proxy.url}/page.html`);
    const outcome = await page.evaluate(
      () => (globalThis as unknown as { outcome: Promise<unknown> }).outcome,
    );
    expect(outcome).toEqual(expected);
    expect(proxy.cuts).toEqual({ streams: 0, sockets: 0 });
  } finally {
    await cloud.stop();
  }
});
