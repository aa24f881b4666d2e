/** `Invoker` over asynchronous Lambda invocations: queued durably by AWS, delivered at least once. */
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { FollowerStarter, Forgetter, Invoker, SandboxReturner } from '#shared/ports/invoker.ts';

/** The functions that a function may invoke. */
export type InvokedFunctions = {
  readonly turn?: string | undefined;
  readonly onConnected?: string | undefined;
  readonly janitor?: string | undefined;
  readonly terminal?: string | undefined;
  readonly relay?: string | undefined;
};

export const makeInvoker = (
  client: LambdaClient,
  functions: InvokedFunctions,
): Invoker & Forgetter & FollowerStarter & SandboxReturner => {
  const invoke = async (name: keyof InvokedFunctions, payload: object): Promise<void> => {
    const FunctionName = functions[name];
    if (FunctionName === undefined) throw new Error(`this function does not wake the ${name}`);
    await client.send(
      new InvokeCommand({ FunctionName, InvocationType: 'Event', Payload: JSON.stringify(payload) }),
    );
  };
  return {
    runTurn: (sessionId, correlationId, { hops = 0, seen, frames, kills } = {}) =>
      invoke('turn', { sessionId, correlationId, hops, seen, frames, kills }),
    stopSandbox: (workspaceId, correlationId) =>
      invoke('janitor', { sweep: 'stop', workspaceId, correlationId }),
    forgetWorkspace: (workspaceId, correlationId) =>
      invoke('janitor', { sweep: 'workspace', workspaceId, correlationId }),
    forgetProject: (project, correlationId) =>
      invoke('janitor', { sweep: 'project', project, correlationId }),
    returnSandbox: (sessionId, correlationId) =>
      invoke('janitor', { sweep: 'return', sessionId, correlationId }),
    fillPool: (correlationId) => invoke('janitor', { sweep: 'pool', correlationId }),
    checkMcpServer: (project, name, correlationId) =>
      invoke('janitor', { sweep: 'mcp-server', project, name, correlationId }),
    holdRelay: (work) => invoke('relay', work),
    connected: (connectionId, correlationId) => invoke('onConnected', { connectionId, correlationId }),
    followTerminal: ({ connection: connectionId, process: processId }, run, correlationId) =>
      invoke('terminal', { connectionId, processId, run, correlationId }),
  };
};
