/** `/webhooks`: created, listed, shown, changed, deleted, tested; and the list of their deliveries. */
import type { WebhookDeps } from '#shared/application/deps.ts';
import {
  changeWebhook,
  createWebhook,
  listWebhooks,
  removeWebhook,
} from '#shared/application/webhook/manage-webhooks.ts';
import {
  changeWebhookBody,
  createWebhookBody,
  deliveriesQuery,
  webhooksQuery,
} from '#shared/contracts/rest/webhook-bodies.ts';
import {
  deliveriesAnswer,
  deliveryView,
  newWebhookAnswer,
  webhookAnswer,
  webhooksAnswer,
  webhookTestAnswer,
  webhookView,
} from '#shared/contracts/rest/webhook-view.ts';
import { type ApiRoute, json, principalOf, queryOf } from './api-route.ts';
import { bodyOf } from './request-body.ts';
import { onWebhook } from './resource-route.ts';

export const webhookRoutes = ({ ports }: { readonly ports: WebhookDeps }): readonly ApiRoute[] => [
  ...collectionRoutes(ports),
  ...oneRoutes(ports),
  onWebhook(ports, {
    method: 'POST',
    path: '/api/webhooks/{id}/test',
    needs: 'own:write',
    contract: {
      summary: 'Send a signed test event to a webhook',
      answers: { 200: webhookTestAnswer },
    },
    handler: async (_event, { id }) => json(200, await ports.webhookDispatcher.test(id)),
  }),
  onWebhook(ports, {
    method: 'GET',
    path: '/api/webhooks/{id}/deliveries',
    needs: 'own:read',
    contract: {
      summary: 'List the deliveries of a webhook, newest first',
      query: deliveriesQuery,
      answers: { 200: deliveriesAnswer },
    },
    handler: async (event, { id }) => {
      const { limit: itemsMax, after } = queryOf(event, deliveriesQuery);
      const page = { itemsMax, after, now: ports.world.now() };
      const { rows, next } = await ports.webhooks.deliveries(id, page);
      return json(200, { deliveries: rows.map(deliveryView), ...(next === undefined ? {} : { next }) });
    },
  }),
];

const collectionRoutes = (ports: WebhookDeps): readonly ApiRoute[] => [
  {
    method: 'POST',
    path: '/api/webhooks',
    needs: 'own:write',
    contract: {
      summary: 'Create a webhook; only this answer shows its secret',
      body: createWebhookBody,
      answers: { 201: newWebhookAnswer },
      errors: ['project_not_found', 'conflict', 'resource_limit_exceeded'],
    },
    handler: async (event) => {
      const options = bodyOf(event, createWebhookBody);
      const { webhook, secret } = await createWebhook(ports, principalOf(event), options);
      return json(201, { ...webhookView(webhook), secret });
    },
  },
  {
    method: 'GET',
    path: '/api/webhooks',
    needs: 'own:read',
    contract: {
      summary: 'List webhooks, newest first',
      query: webhooksQuery,
      answers: { 200: webhooksAnswer },
      errors: ['project_not_found'],
    },
    handler: async (event) => {
      const { project } = queryOf(event, webhooksQuery);
      const webhooks = await listWebhooks(ports, principalOf(event), project);
      return json(200, { webhooks: webhooks.map(webhookView) });
    },
  },
];

const oneRoutes = (ports: WebhookDeps): readonly ApiRoute[] => [
  onWebhook(ports, {
    method: 'GET',
    path: '/api/webhooks/{id}',
    needs: 'own:read',
    contract: { summary: 'Show a webhook', answers: { 200: webhookAnswer } },
    handler: (_event, webhook) => Promise.resolve(json(200, webhookView(webhook))),
  }),
  onWebhook(ports, {
    method: 'PATCH',
    path: '/api/webhooks/{id}',
    needs: 'own:write',
    contract: {
      summary: 'Change a webhook',
      body: changeWebhookBody,
      answers: { 200: webhookAnswer },
      errors: ['conflict'],
    },
    handler: async (event, { id }) => {
      const change = bodyOf(event, changeWebhookBody);
      return json(200, webhookView(await changeWebhook(ports, principalOf(event), { id, change })));
    },
  }),
  onWebhook(ports, {
    method: 'DELETE',
    path: '/api/webhooks/{id}',
    needs: 'own:write',
    contract: { summary: 'Delete a webhook and its pending deliveries', answers: { 200: webhookAnswer } },
    handler: async (event, webhook) => {
      await removeWebhook(ports, principalOf(event), webhook);
      return json(200, webhookView(webhook));
    },
  }),
];
