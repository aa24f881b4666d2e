/** `Invoker` and `NoticeSender` over asynchronous Lambda invocations. */
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type {
  FollowerStarter,
  Forgetter,
  Invoker,
  NoticeSender,
  SandboxReturner,
} from '#shared/ports/invoker.ts';
import type { Correlation } from '#shared/ports/telemetry.ts';

/** The functions that a function may invoke. */
export type InvokedFunctions = {
  readonly turn?: string | undefined;
  readonly onConnected?: string | undefined;
  readonly janitor?: string | undefined;
  readonly terminal?: string | undefined;
  readonly relay?: string | undefined;
};

/** Invokes one function asynchronously: queued durably by AWS, delivered at least once. */
export const invokeLater =
  (client: LambdaClient, FunctionName: string, correlation: Pick<Correlation, 'id'>) =>
  async (payload: object): Promise<void> => {
    const Payload = JSON.stringify({ ...payload, correlationId: correlation.id() });
    await client.send(new InvokeCommand({ FunctionName, InvocationType: 'Event', Payload }));
  };

export const makeInvoker = (
  client: LambdaClient,
  functions: InvokedFunctions,
  correlation: Pick<Correlation, 'id'>,
): Invoker & Forgetter & FollowerStarter & SandboxReturner => {
  const invoke = async (name: keyof InvokedFunctions, payload: object): Promise<void> => {
    const FunctionName = functions[name];
    if (FunctionName === undefined) throw new Error(`this function does not wake the ${name}`);
    await invokeLater(client, FunctionName, correlation)(payload);
  };
  return {
    runTurn: (sessionId, { hops = 0, ...work } = {}) => invoke('turn', { sessionId, hops, ...work }),
    stopSandbox: (workspaceId) => invoke('janitor', { sweep: 'stop', workspaceId }),
    forgetWorkspace: (workspaceId) => invoke('janitor', { sweep: 'workspace', workspaceId }),
    forgetProject: (project) => invoke('janitor', { sweep: 'project', project }),
    returnSandbox: (sessionId) => invoke('janitor', { sweep: 'return', sessionId }),
    fillPool: () => invoke('janitor', { sweep: 'pool' }),
    checkMcpServer: (project, name) => invoke('janitor', { sweep: 'mcp-server', project, name }),
    holdRelay: (work) => invoke('relay', work),
    connected: (connectionId) => invoke('onConnected', { connectionId }),
    followTerminal: ({ connection: connectionId, process: processId }, run) =>
      invoke('terminal', { connectionId, processId, run }),
  };
};

export const makeNoticeSender = (
  client: LambdaClient,
  FunctionName: string,
  correlation: Pick<Correlation, 'id'>,
): NoticeSender => ({
  sendNotices: (notices) => invokeLater(client, FunctionName, correlation)({ notices }),
});
