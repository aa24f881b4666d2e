/** Webhooks that get an event: also one that was made just before, where only a consistent read finds it. */

import { expect, test } from 'vitest';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import type { World } from '#shared/ports/world.ts';
import { newNotice, newWebhook } from '../../../tests/conformance/webhook-fixture.ts';
import { fake } from '../../../tests/fake.ts';
import { type Command, openMemoryTable, tableOver } from '../../../tests/simulation/memory-table.ts';
import { noticesOf } from './webhook-notices.ts';

test('a webhook receives an event right after its creation (WH1)', async () => {
  const memory = openMemoryTable();
  const isBehind = ({ constructor: { name }, input }: Command): boolean =>
    name === 'QueryCommand' && !('ConsistentRead' in input && input.ConsistentRead === true);
  const webhooks = makeWebhookStore(
    tableOver(async (command) => (isBehind(command) ? { Items: [] } : memory.execute(command).output)),
  );
  const { data } = newNotice();
  const webhook = newWebhook({ project: data.project });
  expect(await webhooks.create(webhook, { secret: 'whsec_c2VjcmV0', version: 0 })).toBe('created');
  const happened = {
    type: 'turn_completed' as const,
    project: data.project,
    owner: webhook.owner,
    key: 'a turn',
    data,
  };
  const world = fake<World>({ sha256: (text: string) => text });
  expect(await noticesOf({ webhooks, world }, [happened], 5)).toMatchObject([{ webhooks: [webhook.id] }]);
});
