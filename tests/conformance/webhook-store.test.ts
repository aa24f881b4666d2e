/** Webhooks and their deliveries against a real DynamoDB engine: kept, spread once, settled once, sent by one. */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { makeDeliveryQueue } from '#shared/adapters/aws/dynamo/deliveries.ts';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { noticeItem } from '#shared/adapters/aws/dynamo/webhook-items.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { rowOf } from '#shared/domain/webhook/delivery-retry.ts';
import { webhooksPerProjectMax } from '#shared/domain/webhook/limits.ts';
import type { Notice } from '#shared/domain/webhook/notice.ts';
import type { Webhook, WebhookId } from '#shared/domain/webhook/webhook.ts';
import { newRun, newSchedule } from './schedule-fixture.ts';
import { atOnce, onTable, tally } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';
import { newDelivery, newNotice, newWebhook } from './webhook-fixture.ts';

const fixture = openFileTable();

const store = () => makeWebhookStore(fixture.table);
const queue = () => makeDeliveryQueue(fixture.table);
const secret = 'whsec_c2VjcmV0';
const made = async (change: Partial<Webhook> = {}): Promise<Webhook> => {
  const webhook = newWebhook(change);
  const { version } = await store().list();
  expect(await store().create(webhook, { secret, version })).toBe('created');
  return webhook;
};
const put = async (notice: Notice): Promise<Notice> => {
  await fixture.table.client.send(
    new PutCommand({ TableName: fixture.table.name, Item: { ...noticeItem(notice) } }),
  );
  return notice;
};
const newId = () => crypto.randomUUID() as WebhookId;
const far = 10 ** 12;

describe('a webhook', () => {
  test.each<[string, Partial<Webhook>]>([
    ['small', {}],
    ['of a person', { isPerson: true }],
    ['disabled', { isEnabled: false, disabledReason: 'why', disabledAt: 5 }],
    [
      'with all events',
      { events: ['approval_required', 'turn_failed', 'sandbox_failed', 'schedule_failed'] },
    ],
  ])('%s is read back as it was made', async (_, change) => {
    const webhook = await made(change);
    expect(await store().get(webhook.id)).toEqual(webhook);
    const { webhooks } = await store().list();
    expect(webhooks.find(({ id }) => id === webhook.id)).toEqual(webhook);
  });

  test('of the deployment has no project', async () => {
    const { project: _, ...webhook } = newWebhook();
    const { version } = await store().list();
    await store().create(webhook, { secret, version });
    expect(await store().get(webhook.id)).toEqual(webhook);
  });

  test('reveals its secret to the sender only', async () => {
    const webhook = await made();
    expect(JSON.stringify(await store().get(webhook.id))).not.toContain(secret);
    expect(JSON.stringify(await store().list())).not.toContain(secret);
    expect(await queue().secretOf(webhook.id)).toBe(secret);
  });

  test('is created once over a version: of eight one is created', async () => {
    const { version } = await store().list();
    const make = () => store().create(newWebhook(), { secret, version });
    expect(tally(await atOnce(8, make))).toEqual({ created: 1, moved: 7 });
  });

  test('is changed once over a version', async () => {
    const webhook = await made();
    const next = await store().replace({ ...webhook, isEnabled: false });
    expect(next).toEqual({ ...webhook, isEnabled: false, version: 1 });
    expect(await store().replace({ ...webhook, isEnabled: true })).toBeUndefined();
    expect(await store().replace(newWebhook())).toBeUndefined();
  });

  test('is deleted once, with its secret, and makes room', async () => {
    const webhook = await made();
    const { version } = await store().list();
    expect(await store().remove(webhook.id, [])).toBe(true);
    expect(await store().remove(webhook.id, [])).toBe(false);
    expect(await store().get(webhook.id)).toBeUndefined();
    expect(await queue().secretOf(webhook.id)).toBeUndefined();
    expect(await store().create(newWebhook(), { secret, version })).toBe('moved');
  });
});

/** All that is due then, read in pages of two. */
const due = async (at: number) => {
  const pages = await Array.fromAsync(queue().due(at, 2));
  return {
    notices: pages.flatMap(({ notices }) => notices),
    webhooks: pages.flatMap(({ webhooks }) => webhooks),
  };
};

describe('a notice', () => {
  test('is read back as it was written, and found by the sweep after its grace period', async () => {
    const notice = await put(newNotice({ at: far, webhooks: [newId()] }));
    expect(await queue().notice(notice.id)).toEqual(notice);
    expect((await due(far + 14_999)).notices).not.toContain(notice.id);
    expect((await due(far + 15_000)).notices).toContain(notice.id);
  });

  test('is distributed once, to each of its webhooks, and deleted', async () => {
    const webhooks = [newId(), newId()];
    const notice = await put(newNotice({ webhooks }));
    const deliveries = webhooks.map((webhook) => newDelivery(webhook, { id: notice.id }));
    const spread = await atOnce(4, () => queue().spread(notice, deliveries));
    expect(tally(spread.map(String))).toEqual({ true: 1, false: 3 });
    expect(await queue().notice(notice.id)).toBeUndefined();
    for (const [index, webhook] of webhooks.entries()) {
      expect(await queue().waiting(webhook, 10)).toEqual([deliveries[index]]);
      const { rows } = await store().deliveries(webhook, { itemsMax: 10, now: 0 });
      expect(rows).toMatchObject([{ id: notice.id, state: 'waiting', attempts: 0 }]);
    }
  });
});

describe('the sender of a webhook (WH9)', () => {
  const spreadTo = async (...webhooks: WebhookId[]): Promise<void> => {
    const notice = await put(newNotice({ webhooks }));
    const deliveries = webhooks.map((webhook) => newDelivery(webhook, { id: notice.id, nextAt: far + 7 }));
    expect(await queue().spread(notice, deliveries)).toBe(true);
  };
  const isDue = async (webhook: WebhookId, at: number): Promise<boolean> =>
    (await due(at)).webhooks.includes(webhook);
  const taken = async (webhook: WebhookId) => {
    const lease = await queue().takeLease(webhook, { at: far, until: far + 30 });
    if (lease === undefined) throw new Error('somebody else holds it');
    return lease;
  };
  const over = { dueAt: undefined, acceptedAt: undefined };

  test('is due with its new deliveries, if no sender has the lease', async () => {
    const webhook = newId();
    await spreadTo(webhook);
    expect(await isDue(webhook, far + 6)).toBe(false);
    expect(await isDue(webhook, far + 7)).toBe(true);
    expect(await queue().releaseLease(await taken(webhook), over)).toBe('released');
    expect(await isDue(webhook, far * 2)).toBe(false);
  });

  test('that holds the lease sees new deliveries before it releases it, and is due earlier', async () => {
    const webhook = newId();
    const lease = await taken(webhook);
    await spreadTo(webhook);
    expect(await isDue(webhook, far + 7)).toBe(true);
    expect(await queue().releaseLease(lease, over)).toBe('kept');
    const renewed = await queue().renewLease(lease, far + 60);
    expect(renewed && (await queue().releaseLease(renewed, over))).toBe('released');
  });

  test('is notified for as many webhooks as can receive one notice', async () => {
    const webhooks = Array.from({ length: 2 * webhooksPerProjectMax }, newId);
    await spreadTo(...webhooks);
    const found = new Set((await due(far + 7)).webhooks);
    expect(webhooks.filter((webhook) => !found.has(webhook))).toEqual([]);
  });

  test('is due when its webhook is enabled, and notified when it holds the lease', async () => {
    const webhook = await made({ isEnabled: false });
    const lease = await taken(webhook.id);
    const disabled = await store().replace(webhook);
    if (disabled === undefined) throw new Error('somebody else changed it');
    expect(await isDue(webhook.id, far)).toBe(false);
    expect(await store().replace({ ...disabled, isEnabled: true, enabledAt: far })).toBeDefined();
    expect(await isDue(webhook.id, far)).toBe(true);
    expect(await queue().releaseLease(lease, over)).toBe('kept');
  });

  test('is not due when another caller changed its webhook', async () => {
    const webhook = await made({ isEnabled: false });
    expect(await store().replace({ ...webhook, isEnabled: true, version: 7 })).toBeUndefined();
    expect(await isDue(webhook.id, far)).toBe(false);
  });
});

describe('a commit (WH1)', () => {
  test('that is written has its notices, and a refused one has none', async () => {
    const { create, turns: store } = onTable(fixture.table);
    const session = await create();
    const commit = (notices: readonly Notice[]) =>
      store.commit({
        session,
        version: 0,
        state: { kind: 'idle' },
        historyNext: 0,
        historyFrom: 0,
        historyKept: 0,
        at: 1,
        log: [],
        history: [],
        notices,
        release: false,
        wakes: false,
        dueAt: 1,
      });
    const [notice, other] = [newNotice(), newNotice()];
    expect(await commit([notice])).toMatchObject({ status: 'committed' });
    expect(await queue().notice(notice.id)).toEqual(notice);
    expect(await commit([other])).toMatchObject({ status: 'moved' });
    expect(await queue().notice(other.id)).toBeUndefined();
  });

  test('of a failed run has its notice, and that of a run ended by another caller has none', async () => {
    const schedule = newSchedule();
    const schedules = makeScheduleStore(fixture.table);
    await schedules.create(schedule, { dueAt: undefined, schedulesMax: 50 });
    const run = newRun(schedule);
    await schedules.write(schedule, { read: schedule, dueAt: undefined, schedulesMax: 50, runs: [run] });
    const ended = { ...run, state: 'failed' as const, endedAt: 99_000 };
    const [notice, other] = [newNotice(), newNotice()];
    expect(await schedules.saveRun(ended, [notice])).toBe(true);
    expect(await schedules.saveRun(ended, [other])).toBe(false);
    expect(await queue().notice(notice.id)).toEqual(notice);
    expect(await queue().notice(other.id)).toBeUndefined();
  });
});

describe('a pending delivery', () => {
  const waitingFor = async (webhook: WebhookId, moments: readonly number[]) => {
    const deliveries = moments.map((nextAt, index) => newDelivery(webhook, { nextAt, at: 10_000 + index }));
    for (const delivery of deliveries) {
      const notice = await put(newNotice({ id: delivery.id }));
      await queue().spread(notice, [delivery]);
    }
    return deliveries;
  };

  test('is read soonest first, and counted up to a limit', async () => {
    const webhook = newId();
    const [late, soon, last] = await waitingFor(webhook, [30_000, 20_000, 2_000_000_000_000]);
    expect(await queue().waiting(webhook, 10)).toEqual([soon, late, last]);
    expect(await queue().waiting(webhook, 1)).toEqual([soon]);
    expect(await queue().countWaiting(webhook, 10)).toBe(3);
    expect(await queue().countWaiting(webhook, 2)).toBe(2);
  });

  test('is completed once', async () => {
    const webhook = newId();
    const [read] = await waitingFor(webhook, [20_000]);
    if (read === undefined) throw new Error('nothing waits');
    const next = { ...read, attempts: 1, nextAt: 25_000, firstAttemptAt: 20_000, lastStatus: 500 };
    const again = () =>
      queue().settle(read, { state: 'waiting', next }, { ...rowOf(next, 'waiting'), attempts: 1 });
    expect(tally((await atOnce(4, again)).map(String))).toEqual({ true: 1, false: 3 });
    expect(await queue().waiting(webhook, 10)).toEqual([next]);
    expect(await queue().settle(next, { state: 'delivered' }, rowOf(next, 'delivered'))).toBe(true);
    expect(await queue().waiting(webhook, 10)).toEqual([]);
    const { rows } = await store().deliveries(webhook, { itemsMax: 10, now: 0 });
    expect(rows).toMatchObject([{ id: read.id, state: 'delivered', attempts: 1, lastStatus: 500 }]);
  });

  test('is listed newest first, page by page, until it expires', async () => {
    const webhook = newId();
    const deliveries = await waitingFor(webhook, [1, 2, 3, 4, 5]);
    const newest = deliveries.map(({ id }) => id).reverse();
    const first = await store().deliveries(webhook, { itemsMax: 2, now: 0 });
    const second = await store().deliveries(webhook, { itemsMax: 2, now: 0, after: first.next });
    const third = await store().deliveries(webhook, { itemsMax: 2, now: 0, after: second.next });
    const ids = [first, second, third].map(({ rows }) => rows.map(({ id }) => id));
    expect(ids).toEqual([newest.slice(0, 2), newest.slice(2, 4), newest.slice(4)]);
    expect(third.next).toBeUndefined();
    expect((await store().deliveries(webhook, { itemsMax: 9, now: far })).rows).toEqual([]);
  });

  test('is deleted with its webhook, however many there are', async () => {
    const webhook = newId();
    await waitingFor(
      webhook,
      Array.from({ length: 30 }, (_, index) => index),
    );
    await queue().takeLease(webhook, { at: 1, until: 2 });
    await queue().clear(webhook);
    expect(await queue().waiting(webhook, 10)).toEqual([]);
    expect((await store().deliveries(webhook, { itemsMax: 9, now: 0 })).rows).toEqual([]);
    expect((await due(far)).webhooks).not.toContain(webhook);
  });
});

describe('the sender’s lease', () => {
  test('belongs to one sender at a time, and to the next one when it expires', async () => {
    const webhook = newId();
    const take = (at: number) => queue().takeLease(webhook, { at, until: at + 30 });
    const taken = await atOnce(6, () => take(100));
    expect(taken.filter((lease) => lease !== undefined)).toHaveLength(1);
    expect(await take(130)).toBeUndefined();
    expect(await take(131)).toMatchObject({ fence: 2 });
  });

  test('is found by the sweep when its holder dies', async () => {
    const webhook = newId();
    await queue().takeLease(webhook, { at: far, until: far + 30 });
    expect((await due(far + 29)).webhooks).not.toContain(webhook);
    expect((await due(far + 30)).webhooks).toContain(webhook);
  });

  test('is not released before all new deliveries were seen', async () => {
    const webhook = newId();
    const lease = await queue().takeLease(webhook, { at: 100, until: 200 });
    if (lease === undefined) throw new Error('another sender holds it');
    const over = { dueAt: undefined, acceptedAt: 150 };
    expect(await queue().takeLease(webhook, { at: 150, until: 250 })).toBeUndefined();
    expect(await queue().releaseLease(lease, over)).toBe('kept');
    const renewed = await queue().renewLease(lease, 220);
    if (renewed === undefined) throw new Error('it was lost');
    expect(await queue().releaseLease(renewed, over)).toBe('released');
    expect((await due(far * 2)).webhooks).not.toContain(webhook);
    expect(await queue().takeLease(webhook, { at: 221, until: 300 })).toMatchObject({
      fence: 2,
      acceptedAt: 150,
    });
    expect(await queue().releaseLease(renewed, over)).toBe('stale');
    expect(await queue().renewLease(renewed, 400)).toBeUndefined();
  });

  test('has the acceptance that its holder recorded before it died', async () => {
    const webhook = newId();
    const lease = await queue().takeLease(webhook, { at: 100, until: 200 });
    if (lease === undefined) throw new Error('another sender holds it');
    expect(await queue().renewLease({ ...lease, acceptedAt: 150 }, 250)).toMatchObject({ acceptedAt: 150 });
    expect(await queue().renewLease(lease, 300)).toMatchObject({ acceptedAt: 150 });
    expect(await queue().takeLease(webhook, { at: 301, until: 400 })).toMatchObject({ acceptedAt: 150 });
  });

  test('is due when its holder says so', async () => {
    const webhook = newId();
    const lease = await queue().takeLease(webhook, { at: 100, until: 200 });
    if (lease === undefined) throw new Error('another sender holds it');
    await queue().releaseLease(lease, { dueAt: far + 500, acceptedAt: undefined });
    expect((await due(far + 499)).webhooks).not.toContain(webhook);
    expect((await due(far + 500)).webhooks).toContain(webhook);
  });
});

test('the address of the deployment is stored', async () => {
  await queue().keepPublicUrl('https://one.example');
  await queue().keepPublicUrl('https://other.example');
  expect(await queue().publicUrl()).toBe('https://other.example');
});
