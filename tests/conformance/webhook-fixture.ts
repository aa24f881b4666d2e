/** Webhooks, notices and deliveries as tests make them: valid, small, each under ids of its own. */
import type { OwnerId, ProjectId, SessionId, TurnId } from '#shared/domain/ids.ts';
import type { Delivery } from '#shared/domain/webhook/delivery-retry.ts';
import type { Notice } from '#shared/domain/webhook/notice.ts';
import type { Webhook, WebhookId } from '#shared/domain/webhook/webhook.ts';

export const newWebhook = (change: Partial<Webhook> = {}): Webhook => ({
  id: crypto.randomUUID() as WebhookId,
  project: crypto.randomUUID() as ProjectId,
  owner: 'deployment' as OwnerId,
  url: 'https://receiver.example/hooks',
  events: ['turn_completed'],
  isEnabled: true,
  enabledAt: 1000,
  createdAt: 1000,
  updatedAt: 1000,
  version: 0,
  ...change,
});

export const newNotice = (change: Partial<Notice> = {}): Notice => ({
  id: `msg_${crypto.randomUUID().replaceAll('-', '')}`,
  type: 'turn_completed',
  at: 10_000,
  data: {
    sessionId: crypto.randomUUID() as SessionId,
    title: 'a session',
    project: crypto.randomUUID() as ProjectId,
    turnId: crypto.randomUUID() as TurnId,
  },
  webhooks: [],
  ...change,
});

export const newDelivery = (webhook: WebhookId, change: Partial<Delivery> = {}): Delivery => ({
  webhook,
  id: `msg_${crypto.randomUUID().replaceAll('-', '')}`,
  type: 'turn_completed',
  at: 10_000,
  body: '{}',
  attempts: 0,
  nextAt: 10_000,
  ...change,
});
