/** The payloads by which one function invokes another. */
import type { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { expect, test } from 'vitest';
import type { SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import type { ScheduleId } from '#shared/domain/schedule/schedule.ts';
import { makeInvoker, makeNoticeSender } from './lambda-invoker.ts';
import { makeScheduleDispatcher } from './schedule-dispatcher.ts';
import { makeWebhookDispatcher } from './webhook-dispatcher.ts';

const openRecorder = () => {
  const sent: unknown[] = [];
  const client = {
    send: async ({ input: { FunctionName, InvocationType, Payload } }: InvokeCommand) => {
      sent.push([FunctionName, JSON.parse(`${Payload}`)]);
      expect(InvocationType).toBe('Event');
    },
  } as unknown as LambdaClient;
  return { sent, client };
};

test('every payload has the correlation id of the moment in which it is sent', async () => {
  const { sent, client } = openRecorder();
  let id = 'first';
  const functions = { turn: 'turn', janitor: 'janitor', relay: 'relay' };
  const invoker = makeInvoker(client, functions, { id: () => id });
  await invoker.runTurn('s' as SessionId, { hops: 1 });
  id = 'second';
  await invoker.fillPool();
  const work = { workspaceId: 'w' as WorkspaceId, generation: 1, sessionId: 's' as SessionId };
  await invoker.holdRelay(work);
  expect(sent).toEqual([
    ['turn', { sessionId: 's', hops: 1, correlationId: 'first' }],
    ['janitor', { sweep: 'pool', correlationId: 'second' }],
    ['relay', { ...work, correlationId: 'second' }],
  ]);
});

test('notices, a schedule and a webhook are invoked in the same way', async () => {
  const { sent, client } = openRecorder();
  const correlation = { id: () => 'c' };
  await makeNoticeSender(client, 'webhooks', correlation).sendNotices(['n']);
  await makeScheduleDispatcher(client, 'schedules', correlation).dispatch('s' as ScheduleId);
  await makeWebhookDispatcher(client, 'webhooks', correlation).dispatch('w');
  expect(sent).toEqual([
    ['webhooks', { notices: ['n'], correlationId: 'c' }],
    ['schedules', { scheduleId: 's', correlationId: 'c' }],
    ['webhooks', { webhook: 'w', correlationId: 'c' }],
  ]);
});
