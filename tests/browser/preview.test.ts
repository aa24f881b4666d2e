/** A preview of a built web app, as a person opens it: what its page loads, asks and sends arrives, without the policy being loosened. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, openAgent } from '../e2e/agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';
import { newPage } from './browser.ts';

const port = 8123;

/** A server with an API beside the files of the page. */
const server = `
import http.server
class App(http.server.SimpleHTTPRequestHandler):
    def do_PUT(self):
        asked = self.rfile.read(int(self.headers['content-length'])).decode()
        answer = (self.path + ' ' + self.headers['content-type'] + ' ' + asked).encode()
        self.send_response(200)
        self.send_header('content-length', str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
http.server.ThreadingHTTPServer(('127.0.0.1', ${port}), App).serve_forever()
`;

const files = {
  'server.py': server,
  'site/index.html': `<!doctype html><meta charset="utf-8"><title>Built</title><link rel="icon" href="data:,"><link rel="stylesheet" href="./assets/a.css">
<body><script src="./assets/classic.js"></script><script type="module" crossorigin src="./assets/main.js"></script><a href="./next.html">next</a>`,
  'site/next.html':
    '<!doctype html><title>Next</title><link rel="icon" href="data:,"><body><script src="assets/classic.js"></script>',
  'site/assets/a.css': 'body { color: rgb(1, 2, 3) }',
  'site/assets/classic.js': 'globalThis.classic = true;',
  'site/assets/part.js': 'export const part = "part";',
  'site/assets/main.js': `import { part } from './part.js';
const put = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"a":1}' };
const answer = await fetch('./api/things?b=2', put);
globalThis.seen = [part, (await import('./part.js')).part, answer.status, await answer.text()];`,
};

let cloud: EmbeddedCloud;
let agent: Agent;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
  agent = await openAgent(cloud);
  const headers = { 'content-type': 'application/octet-stream' };
  for (const [name, body] of Object.entries(files))
    await cloud.request(`/api/sessions/${agent.id}/files/${name}`, { method: 'PUT', body, headers });
  await agent.run('$ (cd site && python3 ../server.py >/dev/null 2>&1 &)');
  await eventually(
    () => cloud.request(`/api/sessions/${agent.id}/ports/${port}/`),
    ({ status }) => status === 200,
  );
});
afterAll(async () => {
  await cloud?.stop();
});

test.each(['127.0.0.1', 'localhost'])(
  'a built app at http://%s has its style, scripts, modules and requests',
  async (host) => {
    const url = cloud.url.replace('127.0.0.1', host);
    const { ticket } = await cloud.ask<{ ticket: string }>('/api/tickets', { method: 'POST' });
    const page = await newPage(url);
    await page.goto(`${url}/api/sessions/${agent.id}/ports/${port}/?ticket=${ticket}`);
    await page.waitForFunction('globalThis.seen !== undefined');
    expect(await page.evaluate('[seen, classic, getComputedStyle(document.body).color, origin]')).toEqual([
      ['part', 'part', 200, '/api/things?b=2 application/json {"a":1}'],
      ...[true, 'rgb(1, 2, 3)', 'null'],
    ]);
    await page.getByRole('link', { name: 'next' }).click();
    await page.waitForFunction('document.title === "Next" && globalThis.classic');
    await page.reload();
    await page.waitForFunction('document.title === "Next" && globalThis.classic');
  },
);
