/** The sender on a clock that the test moves: what a receiver gets and when, who sends, and what becomes of the rest. */

import { beforeEach, describe, expect, test } from 'vitest';
import { makeDeliveryQueue } from '#shared/adapters/aws/dynamo/deliveries.ts';
import { noticePut } from '#shared/adapters/aws/dynamo/webhook-items.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import type { AuditRow } from '#shared/domain/audit.ts';
import { deploymentOwner } from '#shared/domain/principal.ts';
import {
  deliveryKeptMs,
  retryForMs,
  senderLeaseMs,
  senderRunMs,
  sweptMax,
} from '#shared/domain/webhook/limits.ts';
import type { Webhook, WebhookId } from '#shared/domain/webhook/webhook.ts';
import type { AuditLog } from '#shared/ports/access.ts';
import type { ProjectStore } from '#shared/ports/projects.ts';
import type { SignedRequest, WebhookPost } from '#shared/ports/webhooks.ts';
import { newNotice, newWebhook } from '../../../tests/conformance/webhook-fixture.ts';
import { fake } from '../../../tests/fake.ts';
import { type Command, openMemoryTable, tableOver } from '../../../tests/simulation/memory-table.ts';
import type { SenderDeps } from '../deps.ts';
import { changeWebhook, type WebhookChange } from './manage-webhooks.ts';
import { runSender, sendTest, sweepWebhooks } from './run-sender.ts';

type Sent = SignedRequest & { readonly seconds: number };

let now: number;
let sent: Sent[];
let said: string[];
let rows: AuditRow[];
let answer: (request: SignedRequest) => ReturnType<WebhookPost['send']>;
let ports: SenderDeps;
let table: ReturnType<typeof tableOver>;
/** Throws instead of what is asked of the table, or after it was done. */
let before: (command: Command) => void;
let after: (command: Command) => void;

const start = 1_000_000_000;
const publicUrl = 'https://sallyport.example';
const down = async () => ({ error: 'it refused the connection' });
const up = async () => ({ status: 200 });
const works = () => undefined;

beforeEach(() => {
  now = start;
  [sent, said, rows] = [[], [], []];
  answer = up;
  const memory = openMemoryTable();
  [before, after] = [works, works];
  table = tableOver(async (command) => {
    before(command);
    const { output } = memory.execute(command);
    after(command);
    return output;
  });
  const note = (_: string, fields: Readonly<Record<string, unknown>> = {}) =>
    void said.push(String(fields['event']));
  ports = {
    webhooks: makeWebhookStore(table),
    deliveries: makeDeliveryQueue(table),
    post: {
      send: async (request) => {
        sent.push({ ...request, seconds: (request.at - start) / 1000 });
        return answer(request);
      },
    },
    auditLog: fake<AuditLog>({ append: async (row) => void rows.push(row) }),
    telemetry: { info: note, warn: note, error: note, count: () => undefined, duration: () => undefined },
    world: {
      now: () => now,
      uuid: () => crypto.randomUUID(),
      sha256: (text) => text,
      sleep: async (milliseconds) => {
        now += milliseconds;
        await Promise.resolve();
      },
    },
  };
});

const made = async (change: Partial<Webhook> = {}): Promise<WebhookId> => {
  const webhook = newWebhook({ enabledAt: start, ...change });
  const store = makeWebhookStore(table);
  const { version } = await store.list();
  await store.create(webhook, { secret: 'whsec_c2VjcmV0', version });
  return webhook.id;
};
const told = async (...webhooks: WebhookId[]): Promise<string> => {
  const notice = newNotice({ at: now, webhooks });
  const { Put } = noticePut(table.name, notice);
  const { PutCommand } = await import('@aws-sdk/lib-dynamodb');
  await table.client.send(new PutCommand({ ...Put, Item: { ...Put.Item } }));
  return notice.id;
};
const run = () => ({ until: now + senderRunMs, firstPauseMs: 5000, publicUrl });
const send = (...notices: string[]) => runSender(ports, { ...run(), notices, webhooks: [] });
const sweep = () => sweepWebhooks(ports, { ...run(), url: undefined });
const minute = async (): Promise<void> => {
  now = (Math.floor(now / 60_000) + 1) * 60_000;
  await sweep();
};
const rowsOf = async (id: WebhookId) =>
  (await makeWebhookStore(table).deliveries(id, { itemsMax: 100, now: 0 })).rows;
const attemptsAt = () => sent.map(({ seconds }) => Math.round(seconds));

describe('a delivery', () => {
  test('is sent at once, and once', async () => {
    const webhook = await made();
    const notice = await told(webhook);
    await send(notice);
    await send(notice);
    await minute();
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({ id: notice, secret: 'whsec_c2VjcmV0' });
    expect(JSON.parse(sent[0]?.body ?? '')).toMatchObject({
      type: 'turn_completed',
      data: { title: 'a session' },
    });
    expect(await rowsOf(webhook)).toMatchObject([{ id: notice, state: 'delivered', attempts: 1 }]);
  });

  test('is retried after 5, 10, 20 and 40 s, then by the sweep (WH3)', async () => {
    answer = down;
    await send(await told(await made()));
    expect(attemptsAt()).toEqual([0, 5, 15, 35, 75]);
    for (let swept = 0; swept < 15; swept += 1) await minute();
    const pauses = attemptsAt().map((at, index, all) => at - (all[index - 1] ?? 0));
    const due = [0, 5, 10, 20, 40, 80, 160, 320];
    for (const [index, pause] of due.entries()) {
      expect(pauses[index]).toBeGreaterThanOrEqual(pause);
      expect(pauses[index]).toBeLessThan(pause + 60);
    }
    expect(new Set(sent.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
  });

  test('reaches a receiver that recovers after a minute', async () => {
    answer = async ({ at }) => (at < start + 60_000 ? down() : up());
    const webhook = await made();
    const notices = [await told(webhook), await told(webhook), await told(webhook)];
    await send(...notices);
    expect(new Set(sent.filter(({ at }) => at >= start + 60_000).map(({ id }) => id))).toEqual(
      new Set(notices),
    );
    expect((await rowsOf(webhook)).map(({ state }) => state)).toEqual([
      'delivered',
      'delivered',
      'delivered',
    ]);
  });

  test('is found by one sweep, however many others were left behind (WH9)', async () => {
    const webhook = await made();
    for (let notice = 0; notice < 2 * sweptMax; notice += 1) await told(webhook);
    now += 60_000;
    await sweep();
    expect(await Array.fromAsync(ports.deliveries.due(now + 10 ** 9, 100))).toEqual([]);
    expect(sent).toHaveLength(2 * sweptMax);
  });

  test('whose sender was never invoked is found by the sweep (WH2)', async () => {
    const notice = await told(await made());
    now += 14_999;
    await sweep();
    expect(sent).toEqual([]);
    now += 1;
    await sweep();
    expect(sent).toMatchObject([{ id: notice }]);
  });

  test('whose sender died in the middle is found when its lease expires (WH2)', async () => {
    const webhook = await made();
    answer = () => Promise.reject(new Error('the process ends'));
    expect(await send(await told(webhook))).toEqual({ webhooks: 1, failed: 1 });
    answer = up;
    now += senderLeaseMs - 1;
    await sweep();
    expect(sent).toHaveLength(1);
    now += 2;
    await sweep();
    expect(sent).toHaveLength(2);
    expect(sent[1]?.id).toBe(sent[0]?.id);
  });

  test('waits until the address of the deployment is known', async () => {
    const notice = await told(await made());
    await runSender(ports, { ...run(), publicUrl: undefined, notices: [notice], webhooks: [] });
    expect(sent).toEqual([]);
    now += 15_000;
    await sweepWebhooks(ports, { ...run(), publicUrl: undefined, url: 'https://late.example' });
    expect(JSON.parse(sent[0]?.body ?? '').data.url).toMatch(/^https:\/\/late\.example\/#\/chat\//);
  });
});

describe('the sweep finds a distributed notice (WH9)', () => {
  const spreads = ({ constructor: { name }, input }: Command, notice = 'NOTICE#'): boolean =>
    name === 'TransactWriteCommand' && JSON.stringify(input).includes(notice);
  const takesLease = ({ constructor: { name }, input }: Command): boolean =>
    name === 'UpdateCommand' && JSON.stringify(input).includes('ADD leaseFence');
  const fails = (): never => {
    throw new Error('the table does not answer');
  };

  test('when its sender dies right after the distribution', async () => {
    const webhook = await made();
    const notice = await told(webhook);
    after = (command) => {
      if (!spreads(command)) return;
      before = fails;
      fails();
    };
    await Promise.allSettled([send(notice)]);
    [before, after] = [works, works];
    expect(await ports.deliveries.notice(notice)).toBeUndefined();
    await send(notice);
    expect(sent).toEqual([]);
    await sweep();
    expect(sent).toMatchObject([{ id: notice }]);
    expect(await rowsOf(webhook)).toMatchObject([{ id: notice, state: 'delivered' }]);
  });

  test('when the lease could not be acquired', async () => {
    const notice = await told(await made());
    before = (command) => void (takesLease(command) && fails());
    expect(await send(notice)).toEqual({ webhooks: 1, failed: 1 });
    before = works;
    expect(sent).toEqual([]);
    await sweep();
    expect(sent).toMatchObject([{ id: notice }]);
  });

  test('when the second of three notices fails: the others are sent at once', async () => {
    const notices = [await told(await made()), await told(await made()), await told(await made())];
    const [first, second, third] = notices;
    before = (command) => void (spreads(command, `NOTICE#${second}`) && fails());
    const [report] = await Promise.allSettled([send(...notices)]);
    expect(report).toEqual({ status: 'fulfilled', value: { webhooks: 2, failed: 1 } });
    expect(sent.map(({ id }) => id)).toEqual([first, third]);
    now += 15_000;
    await sweep();
    expect(sent).toHaveLength(2);
    before = works;
    await sweep();
    expect(sent.map(({ id }) => id)).toEqual([first, third, second]);
  });

  test('when the second of two notices fails and the sender dies', async () => {
    const [first, second] = [await told(await made()), await told(await made())];
    before = (command) => {
      if (!spreads(command, `NOTICE#${second}`)) return;
      before = fails;
      fails();
    };
    await Promise.allSettled([send(first, second)]);
    before = works;
    await sweep();
    expect(sent).toMatchObject([{ id: first }]);
    now += 15_000;
    await sweep();
    expect(sent).toMatchObject([{ id: first }, { id: second }]);
  });

  test('and a write that collided with a transaction is retried', async () => {
    let conflicts = 0;
    before = (command) => {
      if (!takesLease(command) || conflicts === 2) return;
      conflicts += 1;
      throw Object.assign(new Error('a transaction is under way'), { name: 'TransactionConflictException' });
    };
    const notice = await told(await made());
    expect(await send(notice)).toEqual({ webhooks: 1, failed: 0 });
    expect(sent).toMatchObject([{ id: notice }]);
  });
});

describe('one sender at a time', () => {
  test('and it sees new deliveries while it waits for a retry', async () => {
    const webhook = await made();
    const first = await told(webhook);
    let second: string | undefined;
    answer = async ({ id }) => {
      if (id === first && second === undefined) {
        second = await told(webhook);
        // Another sender is told that the lease is held, and leaves.
        await send(second);
        return down();
      }
      return up();
    };
    await send(first);
    expect(sent.map(({ id }) => id)).toEqual([first, second, first]);
    expect(attemptsAt()[1]).toBeLessThan(3);
  });

  test('has at most eight attempts under way', async () => {
    const webhook = await made();
    let [open, most] = [0, 0];
    answer = async () => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setTimeout(resolve, 1));
      open -= 1;
      return up();
    };
    const notices = [];
    for (let index = 0; index < 20; index += 1) notices.push(await told(webhook));
    await Promise.all(notices.map((notice) => send(notice)));
    expect(sent).toHaveLength(20);
    expect(most).toBe(8);
  });

  test('a receiver that is down delays no other (WH8)', async () => {
    const [dead, alive] = [await made({ url: 'https://dead.example' }), await made()];
    answer = async ({ url }) => (url === 'https://dead.example' ? down() : up());
    await send(await told(dead, alive));
    const first = sent.filter(({ url }) => url !== 'https://dead.example');
    expect(first).toMatchObject([{ seconds: 0 }]);
    expect((await rowsOf(alive)).map(({ state }) => state)).toEqual(['delivered']);
  });
});

const administrator = { owner: deploymentOwner, scope: 'admin', tokenHash: 'a hash' } as const;
const nobody = () => Promise.reject(new Error('nobody is there'));
/** The ports of a function that changes webhooks, and can invoke no sender. */
const managing = () => ({
  ...ports,
  webhooks: makeWebhookStore(table),
  webhookDispatcher: { test: nobody, dispatch: nobody },
  webhookGuard: { check: async () => undefined },
  webhookSecrets: { newSecret: () => 'whsec_c2VjcmV0' },
  projects: fake<ProjectStore>({ get: async () => undefined }),
});

describe('a webhook', () => {
  const aDay = async (): Promise<void> => {
    const end = now + retryForMs + 2 * 3_600_000;
    while (now < end) await minute();
  };

  test('that accepts nothing for a day is disabled with a reason (WH4)', async () => {
    answer = down;
    const webhook = await made();
    await send(await told(webhook));
    await aDay();
    expect(await ports.webhooks.get(webhook)).toMatchObject({
      isEnabled: false,
      disabledReason: 'it accepted nothing for a day: it refused the connection',
    });
    expect(said).toContain('webhook_disabled');
    expect(rows).toMatchObject([{ action: 'webhook.disable', subject: webhook }]);
    const count = sent.length;
    await aDay();
    expect(sent).toHaveLength(count);
    expect(await rowsOf(webhook)).toMatchObject([{ state: 'waiting' }]);
  });

  test('that is enabled again gets its pending deliveries', async () => {
    answer = down;
    const webhook = await made();
    const notice = await told(webhook);
    await send(notice);
    await aDay();
    answer = up;
    const read = await ports.webhooks.get(webhook);
    if (read === undefined) throw new Error('it is gone');
    const { disabledReason: _, disabledAt: __, ...rest } = read;
    await ports.webhooks.replace({ ...rest, isEnabled: true, enabledAt: now });
    await runSender(ports, { ...run(), notices: [], webhooks: [webhook] });
    expect(await rowsOf(webhook)).toMatchObject([{ id: notice, state: 'delivered' }]);
  });

  test('that is enabled again gets its pending deliveries from the sweep if no sender could be invoked (WH9)', async () => {
    answer = down;
    const webhook = await made();
    const notice = await told(webhook);
    await send(notice);
    await aDay();
    answer = up;
    await sweep();
    const count = sent.length;
    await changeWebhook(managing(), administrator, { id: webhook, change: { enabled: true } });
    expect(sent).toHaveLength(count);
    await sweep();
    expect(await rowsOf(webhook)).toMatchObject([{ id: notice, state: 'delivered' }]);
  });

  test('that is enabled again after a week gets nothing that is older', async () => {
    answer = down;
    const webhook = await made();
    for (let notice = 0; notice < 10; notice += 1) await send(await told(webhook));
    await aDay();
    now += deliveryKeptMs;
    answer = up;
    const count = sent.length;
    await changeWebhook(managing(), administrator, { id: webhook, change: { enabled: true } });
    const fresh = await told(webhook);
    await send(fresh);
    expect(sent.slice(count).map(({ id }) => id)).toEqual([fresh]);
    expect(await ports.deliveries.waiting(webhook, 20)).toEqual([]);
    expect(await ports.webhooks.get(webhook)).toMatchObject({ isEnabled: true });
  });

  test('that accepts others stays enabled when one is refused for a day', async () => {
    const webhook = await made();
    const poison = await told(webhook);
    answer = async ({ id }) => (id === poison ? { status: 400, error: 'it answered with HTTP 400' } : up());
    await send(poison);
    now += 3_600_000;
    await send(await told(webhook));
    await aDay();
    expect(await ports.webhooks.get(webhook)).toMatchObject({ isEnabled: true });
    expect(await rowsOf(webhook)).toMatchObject([{ state: 'delivered' }, { id: poison, state: 'failed' }]);
    expect(said).toContain('webhook_delivery_given_up');
  });

  test('that accepts another in the round in which a day is over stays enabled', async () => {
    const webhook = await made();
    const poison = await told(webhook);
    answer = down;
    await send(poison);
    now += retryForMs;
    answer = async ({ id }) => (id === poison ? down() : up());
    await send(await told(webhook));
    expect(await ports.webhooks.get(webhook)).toMatchObject({ isEnabled: true });
    await aDay();
    expect(await rowsOf(webhook)).toMatchObject([{ state: 'delivered' }, { id: poison, state: 'failed' }]);
  });

  test('whose sender died after an acceptance stays enabled when another is refused for a day', async () => {
    const webhook = await made();
    const poison = await told(webhook);
    let second: string | undefined;
    answer = async ({ id }) => {
      now += 1000;
      if (id !== poison) return up();
      if (second !== undefined) throw new Error('the process ends');
      second = await told(webhook);
      await send(second);
      return down();
    };
    expect(await send(poison)).toEqual({ webhooks: 1, failed: 1 });
    expect(sent.map(({ id }) => id)).toEqual([poison, second, poison]);
    answer = down;
    await aDay();
    expect(await ports.webhooks.get(webhook)).toMatchObject({ isEnabled: true });
  });

  test.each<[string, WebhookChange]>([
    ['another address', { url: 'https://new.example' }],
    ['another day', { enabled: true }],
  ])('that is given %s while an attempt runs is not disabled by its answer', async (_, change) => {
    const webhook = await made();
    answer = async () => {
      if (sent.length > 1) return up();
      now += 1;
      await changeWebhook(managing(), administrator, { id: webhook, change });
      return { status: 410, error: 'it answered with HTTP 410' };
    };
    const notice = await told(webhook);
    await send(notice);
    expect(await ports.webhooks.get(webhook)).toMatchObject({ isEnabled: true });
    expect(rows.map(({ action }) => action)).toEqual(['webhook.update']);
    expect(await rowsOf(webhook)).toMatchObject([{ id: notice, state: 'delivered' }]);
  });

  test('that answers 410 is disabled at once', async () => {
    answer = async () => ({ status: 410, error: 'it answered with HTTP 410' });
    const webhook = await made();
    await send(await told(webhook));
    expect(sent).toHaveLength(1);
    expect(await ports.webhooks.get(webhook)).toMatchObject({
      isEnabled: false,
      disabledReason: 'it answered with HTTP 410: it no longer exists',
    });
  });

  test('that was deleted leaves no item', async () => {
    answer = down;
    const webhook = await made();
    await send(await told(webhook));
    await makeWebhookStore(table).remove(webhook, []);
    await runSender(ports, { ...run(), notices: [], webhooks: [webhook] });
    expect(await rowsOf(webhook)).toEqual([]);
    expect(await Array.fromAsync(ports.deliveries.due(now + 10 ** 9, 100))).toEqual([]);
  });
});

describe('a test', () => {
  test('is signed, sent once, and answered with the receiver’s answer', async () => {
    const webhook = await made({ isEnabled: false });
    answer = async () => {
      now += 40;
      return { status: 503, error: 'it answered with HTTP 503' };
    };
    expect(await sendTest(ports, webhook, publicUrl)).toEqual({
      ok: false,
      status: 503,
      durationMs: 40,
      error: 'it answered with HTTP 503',
    });
    expect(sent).toHaveLength(1);
    expect(JSON.parse(sent[0]?.body ?? '')).toMatchObject({ type: 'test', data: { url: `${publicUrl}/#/` } });
    answer = up;
    expect(await sendTest(ports, webhook, publicUrl)).toEqual({ ok: true, status: 200, durationMs: 0 });
    expect(await rowsOf(webhook)).toEqual([]);
  });
});
