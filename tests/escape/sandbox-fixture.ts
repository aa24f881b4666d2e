/** A sandbox to attack: started by a real RunTask, spoken to through the real tools. */
import { createHash } from 'node:crypto';
import { ECSClient } from '@aws-sdk/client-ecs';
import { inject, vi } from 'vitest';
import { makeSandboxHost } from '#shared/adapters/aws/ecs-sandbox-host.ts';
import { askOverMcp } from '#shared/adapters/mcp/sandbox-over-mcp.ts';
import { makeSandboxCalls } from '#shared/adapters/sandbox/sandbox-calls.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { serverAddress } from '#shared/domain/sandbox.ts';
import type { SandboxLink } from '#shared/ports/sandbox.ts';
import { type EcsEndpoint, inContainers, start } from '../../local/ecs/start.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The image in which the sandbox runs as on Fargate; absent: bubblewrap. */
    readonly sandboxImage: string | undefined;
  }
}

/** The sandbox host of one test file. */
export const startHost = (options: Parameters<typeof start>[0]): Promise<EcsEndpoint> => {
  const image = inject('sandboxImage');
  if (image === undefined) return start(options);
  return start({ ...options, isolation: inContainers({ engine: 'podman', image, asFargate: true }) });
};

type TaskDetail = {
  readonly containers?: { readonly networkInterfaces: { readonly privateIpv4Address: string }[] }[];
};

export type AttackedSandbox = {
  readonly call: (name: string, args: JsonObject) => ReturnType<ReturnType<typeof makeSandboxCalls>['call']>;
  /** The output of a bash line; a failure in words. */
  readonly run: (command: string) => Promise<string>;
  /** The output of Python or Node code; a failure in words. */
  readonly runCode: (language: 'python' | 'node', code: string) => Promise<string>;
};

export type TaskEvents = { readonly take: (detail: object) => void; readonly address: Promise<string> };

/** The address of the one task that is started. */
export const awaitAddress = (): TaskEvents => {
  const running = Promise.withResolvers<string>();
  return {
    address: running.promise,
    take: (detail) => {
      const ip = (detail as TaskDetail).containers?.[0]?.networkInterfaces[0]?.privateIpv4Address;
      if (ip !== undefined) running.resolve(ip);
    },
  };
};

const bearer = 'b'.repeat(64);
const sandbox = {
  workspaceId: 'w' as WorkspaceId,
  generation: 1,
  address: 'http://sandbox:8080',
  flavor: 'micro' as const,
};

export type SigningEndpoint = Pick<EcsEndpoint, 'url' | 'credentials' | 'sandboxPort'>;

export const startSandbox = async (
  { url, credentials, sandboxPort }: SigningEndpoint,
  events: TaskEvents,
): Promise<AttackedSandbox> => {
  const host = makeSandboxHost(new ECSClient({ endpoint: url, region: 'us-east-1', credentials }), {
    deployment: 'test',
    cluster: 'sallyport',
    taskDefinitions: { python: 'sallyport-python', node: 'sallyport-node' },
    subnets: ['subnet-1'],
    securityGroup: 'sg-1',
  });
  await host.start({
    token: 'workspace:1',
    group: 'workspace/w/1',
    flavor: 'micro',
    template: 'python',
    bearerHash: createHash('sha256').update(bearer).digest('hex'),
  });
  const link = linkTo(serverAddress(await events.address, sandboxPort));
  await vi.waitUntil(() => isHealthy(link), { timeout: 50_000, interval: 50 });
  const tools = makeSandboxCalls(link, askOverMcp);
  let calls = 0;
  const call: AttackedSandbox['call'] = (name, args) => {
    calls += 1;
    return tools.call({
      sandbox,
      callKey: `call-${calls}`,
      name,
      args,
      onProgress: () => undefined,
    });
  };
  const textOf = async (name: string, args: JsonObject): Promise<string> => {
    const outcome = await call(name, args);
    if (outcome.status !== 'finished') return `${outcome.status}: ${outcome.message}`;
    return outcome.content.map((block) => String(block['text'])).join('');
  };
  return {
    call,
    run: (command) => textOf('execute_command', { command, timeout: 60 }),
    runCode: (language, code) => textOf('execute_code', { code, language, timeout: 60 }),
  };
};

/** The link without its function: what it does is carry a request. */
const linkTo = (address: string): SandboxLink => ({
  fetch: (_, { method, path, headers = {}, body, signal }) =>
    fetch(`${address}${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${bearer}` },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    }),
});

const isHealthy = async (link: SandboxLink): Promise<boolean> => {
  try {
    return (await link.fetch(sandbox, { method: 'GET', path: '/health' })).status === 200;
  } catch {
    return false;
  }
};
