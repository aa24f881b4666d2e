/** The payloads by which one function invokes another. */
import type { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { expect, test } from 'vitest';
import type { SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import { makeInvoker } from './lambda-invoker.ts';

test('every payload has the correlation id of the moment in which it is sent', async () => {
  const sent: unknown[] = [];
  const client = {
    send: async ({ input: { FunctionName, Payload } }: InvokeCommand) => {
      sent.push([FunctionName, JSON.parse(`${Payload}`)]);
    },
  } as unknown as LambdaClient;
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
