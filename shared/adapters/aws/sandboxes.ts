/** The adapters that start sandboxes and reach into them, built from one function's variables. */
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { Template } from '#shared/domain/template.ts';
import type { SandboxHost } from '#shared/ports/sandbox.ts';
import type { Correlation } from '#shared/ports/telemetry.ts';
import { makeSandboxAuthority } from '../egress/sandbox-authority.ts';
import { loadOnce } from '../load-once.ts';
import { makeSandboxCalls } from '../sandbox/sandbox-calls.ts';
import { attemptsMax } from './clients.ts';
import { makeSandboxLog } from './dynamo/sandbox-log.ts';
import type { Table } from './dynamo/table.ts';
import { makeWorkspaceStore } from './dynamo/workspace-store.ts';
import type { EcsPlacement } from './ecs-sandbox-host.ts';
import { makeEnvironments } from './environments.ts';
import { makeSandboxLink } from './lambda-sandbox-link.ts';
import { makeSavedFiles } from './lambda-saved-files.ts';
import { makeWorkspaceArchive, type SharedVolumeKind } from './lambda-workspace-archive.ts';
import { bearerHashOf, bearerOf } from './sandbox-bearer.ts';
import { resolveSecret } from './setting-secrets.ts';

export type SandboxVariables = {
  readonly DEPLOYMENT: string;
  readonly SANDBOX_CLUSTER: string;
  readonly SANDBOX_TASK_PYTHON: string;
  readonly SANDBOX_TASK_NODE: string;
  readonly SANDBOX_TEMPLATE_TASKS?: string | undefined;
  readonly SANDBOX_SUBNETS: string;
  readonly SANDBOX_PORT?: number | undefined;
  readonly SANDBOX_SECURITY_GROUP: string;
  readonly SANDBOX_LINK_FUNCTION: string;
  readonly SANDBOX_SECRET: string;
  readonly WORKSPACE_BUCKET: string;
  readonly POOL_SIZE: number;
  readonly SHARED_VOLUME?: SharedVolumeKind | undefined;
};

const taskDefinitionsOf = (variables: SandboxVariables): Readonly<Record<Template, string>> => ({
  ...Object.fromEntries(
    (variables.SANDBOX_TEMPLATE_TASKS?.split(',') ?? []).map((entry) => {
      const [name = '', ...definition] = entry.split('=');
      return [name, definition.join('=')];
    }),
  ),
  python: variables.SANDBOX_TASK_PYTHON,
  node: variables.SANDBOX_TASK_NODE,
});

/** Called once per environment; its result is called once per invocation, so that a changed secret is noticed. */
export const openSandboxes = (
  variables: SandboxVariables,
  {
    table,
    lambda,
    correlation,
  }: {
    readonly table: Table;
    readonly lambda: LambdaClient;
    readonly correlation: Correlation;
  },
) => {
  const workspaces = makeWorkspaceStore(table);
  const sandboxLog = makeSandboxLog(table);
  // The client of S3 is a seventh of a turn's code, and a turn deletes an object now and then.
  const bucket = loadOnce(async () =>
    (await import('./workspace-bucket.ts')).openWorkspaceBucket(variables.WORKSPACE_BUCKET),
  );
  const host = openSandboxHost({
    deployment: variables.DEPLOYMENT,
    cluster: variables.SANDBOX_CLUSTER,
    taskDefinitions: taskDefinitionsOf(variables),
    subnets: variables.SANDBOX_SUBNETS.split(','),
    securityGroup: variables.SANDBOX_SECURITY_GROUP,
    port: variables.SANDBOX_PORT,
  });
  return async () => {
    const secret = await resolveSecret(variables.SANDBOX_SECRET);
    const bearer = (workspaceId: WorkspaceId, generation: number) =>
      bearerOf(secret, workspaceId, generation);
    const settings = { client: lambda, functionName: variables.SANDBOX_LINK_FUNCTION, bearer, correlation };
    const link = makeSandboxLink(settings);
    return {
      workspaces,
      sandboxLog,
      host,
      link,
      savedFiles: makeSavedFiles(settings),
      archive: makeWorkspaceArchive({ ...settings, bucket, sharedVolume: variables.SHARED_VOLUME }),
      sandboxBearer: bearer,
      poolSize: variables.POOL_SIZE,
      tools: makeSandboxCalls(link, async (...asked) =>
        (await import('../mcp/sandbox-over-mcp.ts')).askOverMcp(...asked),
      ),
      environments: makeEnvironments(table, secret),
      sandboxAuthority: makeSandboxAuthority(secret, Date.now),
      bearerHash: (workspaceId: WorkspaceId, generation: number) =>
        bearerHashOf(secret, workspaceId, generation),
    };
  };
};

/** The client of ECS is loaded when a sandbox is first started, stopped or looked for. */
const openSandboxHost = (placement: EcsPlacement): SandboxHost => {
  const load = loadOnce(async () => {
    const [{ ECSClient }, { makeSandboxHost }] = await Promise.all([
      import('@aws-sdk/client-ecs'),
      import('./ecs-sandbox-host.ts'),
    ]);
    return makeSandboxHost(new ECSClient({ maxAttempts: attemptsMax }), placement);
  });
  return {
    start: async (task) => (await load()).start(task),
    stop: async (taskArn, reason) => (await load()).stop(taskArn, reason),
    running: async function* () {
      yield* (await load()).running();
    },
    describe: async (taskArns) => (await load()).describe(taskArns),
  };
};
