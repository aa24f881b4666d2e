/** A message as long as the limit, whose text does not compress, through the real parts: accepted, answered, shown, branched, dropped. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AnswerOf } from '#sdk/route.ts';
import { api } from '#sdk/routes.ts';
import { Sallyport } from '#sdk/sallyport.ts';
import { messageTextBytesMax } from '#shared/domain/limits.ts';
import { makeSession } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';

let cloud: EmbeddedCloud;
let client: Sallyport;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
  client = new Sallyport(cloud);
});
afterAll(() => cloud.stop());

type Shown = AnswerOf<typeof api.readMessages>['messages'];
const messages = async (id: string): Promise<Shown> =>
  (await client.request(api.readMessages, { params: { id } })).messages;
const answers = (shown: Shown): number => shown.filter(({ role }) => role === 'assistant').length;
const post = (id: string, text: string): Promise<Response> =>
  cloud.request(`/api/sessions/${id}/messages`, { method: 'POST', body: JSON.stringify({ text }) });

test('a message of a megabyte of random text is answered, shown whole, and copied into a branch', async () => {
  const text = randomBytes((messageTextBytesMax / 4) * 3).toString('base64');
  expect(Buffer.byteLength(text)).toBe(1_048_576);
  const { id } = await makeSession(cloud, {});
  const accepted = await post(id, text);
  expect([accepted.status, await accepted.json()]).toMatchObject([202, { messageId: expect.any(String) }]);
  const said = await eventually(
    () => messages(id),
    (shown) => answers(shown) === 1,
  );
  expect(said).toHaveLength(2);
  expect(said[0]?.role === 'user' && said[0].text === text).toBe(true);
  const last = said[1]?.role === 'assistant' ? said[1].messageId : '';
  const branch = await makeSession(cloud, { from: { session: id, messageId: last } });
  const [copied] = await messages(branch.id);
  expect(copied?.role === 'user' && copied.text === text).toBe(true);
  // With the next message the conversation is longer than its limit of tokens, and the long one is dropped.
  expect((await post(id, 'a short one')).status).toBe(202);
  await eventually(
    () => messages(id),
    (shown) => shown[0]?.role === 'user' && shown[0].text === 'a short one' && answers(shown) === 1,
  );
  expect((await post(id, `${text}x`)).status).toBe(413);
});
