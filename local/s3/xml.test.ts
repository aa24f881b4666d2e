/** An answer whose document is known late, as a client of S3 sees it come. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { sendXmlOnceKnown, type XmlDocument } from './xml.ts';

const opened: (() => unknown)[] = [];
afterEach(() => {
  for (const close of opened.splice(0).reverse()) close();
});

const ask = async (known: Promise<XmlDocument>) => {
  const server = createServer((_request, response) => sendXmlOnceKnown(response, known, 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(() => server.close());
  return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
};

test('bytes come before the document is known, and leave it the only element', async () => {
  const { promise, resolve } = Promise.withResolvers<XmlDocument>();
  const response = await ask(promise);
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += Buffer.from(bytes);
    if (/> *\n {3}/.test(text)) resolve(['Result', [['Key', 'k']]]);
  }
  expect(text).toMatch(/^<\?xml [^>]*>\n {3,}<Result xmlns="[^"]*"><Key>k<\/Key><\/Result>$/);
});
