/** `Invoker` over asynchronous Lambda invocations: queued durably by AWS, delivered at least once. */
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { Invoker } from '#shared/ports/invoker.ts';

export type InvokedFunctions = { readonly turn: string; readonly greeter?: string };

export const makeInvoker = (client: LambdaClient, functions: InvokedFunctions): Invoker => {
  const invoke = async (FunctionName: string, payload: Readonly<Record<string, string>>): Promise<void> => {
    await client.send(
      new InvokeCommand({ FunctionName, InvocationType: 'Event', Payload: JSON.stringify(payload) }),
    );
  };
  return {
    runTurn: (sessionId, correlationId) => invoke(functions.turn, { sessionId, correlationId }),
    greet: async (connectionId, correlationId) => {
      if (functions.greeter === undefined) throw new Error('this function greets nobody');
      await invoke(functions.greeter, { connectionId, correlationId });
    },
  };
};
