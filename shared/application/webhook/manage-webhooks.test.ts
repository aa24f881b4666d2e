/** Changes of a webhook over a store in memory. */
import { expect, test } from 'vitest';
import { fake } from '../../../tests/fake.ts';
import type { OwnerId } from '../../domain/ids.ts';
import { type Delivery, settle } from '../../domain/webhook/delivery-retry.ts';
import { retryForMs } from '../../domain/webhook/limits.ts';
import type { Webhook, WebhookId } from '../../domain/webhook/webhook.ts';
import type { WebhookDeps } from '../deps.ts';
import { changeWebhook, type WebhookChange } from './manage-webhooks.ts';

const now = 10 * retryForMs;
const webhook: Webhook = {
  ...{ id: crypto.randomUUID() as WebhookId, owner: 'o' as OwnerId, url: 'https://former.example' },
  ...{ events: ['turn_failed'], isEnabled: true, enabledAt: 1, createdAt: 1, updatedAt: 1, version: 0 },
};
/** It has failed for almost a day. */
const delivery: Delivery = {
  ...{ webhook: webhook.id, id: 'd', type: 'turn_failed', at: 1, body: '{}', nextAt: 1 },
  ...{ attempts: 30, firstAttemptAt: now - retryForMs + 1 },
};

const changed = (change: WebhookChange): Promise<Webhook> => {
  const ports = fake<WebhookDeps>({
    webhooks: fake<WebhookDeps['webhooks']>({ get: async () => webhook, replace: async (next) => next }),
    webhookGuard: { check: async () => undefined },
    webhookDispatcher: fake<WebhookDeps['webhookDispatcher']>({ dispatch: async () => undefined }),
    auditLog: fake<WebhookDeps['auditLog']>({ append: async () => undefined }),
    telemetry: fake<WebhookDeps['telemetry']>({ info: () => undefined }),
    world: fake<WebhookDeps['world']>({ now: () => now, uuid: () => 'u' }),
  });
  const principal = { owner: webhook.owner, scope: 'admin', tokenHash: 'h' } as const;
  return changeWebhook(ports, principal, { id: webhook.id, change });
};

test.each<[string, WebhookChange, 'waiting' | 'exhausted']>([
  ['another address', { url: 'https://new.example' }, 'waiting'],
  ['another address, which waits to be enabled', { url: 'https://new.example', enabled: false }, 'waiting'],
  ['its own address again', { url: webhook.url }, 'exhausted'],
  ['other events', { events: ['turn_completed'] }, 'exhausted'],
  ['a start', { enabled: true }, 'waiting'],
])('WH4: a webhook that was given %s, and its next failure: %j %s', async (_, change, state) => {
  const { enabledAt } = await changed(change);
  const attempt = { outcome: { durationMs: 1, status: 503, error: 'HTTP 503' }, at: now + 1000 };
  expect(settle(delivery, { ...attempt, firstPauseMs: 1000, enabledAt, acceptedAt: undefined }).state).toBe(
    state,
  );
});
