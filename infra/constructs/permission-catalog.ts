/**
 * The catalog of permissions, each under the name of what it allows. The rows of `platform-functions.ts` choose from it: there
 * a function gets its permissions.
 *
 * Four functions have fixed names, since something refers to them before they are created. `turn` invokes itself and is invoked
 * by the janitor, which it invokes. `terminal` and `relay` invoke themselves. `schedules` is the target of its own schedules.
 */
import { Stack } from 'aws-cdk-lib';
import { SubnetType } from 'aws-cdk-lib/aws-ec2';
import type { FunctionOptions } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { FunctionName } from '#shared/config/environment.ts';
import { type Settings, sharedGuestPathOf } from '../settings.ts';
import {
  combine,
  env,
  type FunctionTarget,
  functionNamed,
  invoke,
  type Permission,
  permit,
  readSecret,
} from './permission.ts';
import type { PlatformData } from './platform-data.ts';
import { useKey } from './platform-key.ts';
import type { SandboxCluster } from './sandbox-cluster.ts';
import type { SandboxNetwork } from './sandbox-network.ts';
import { ScheduleGroup } from './schedule-group.ts';
import type { RealtimeApi } from './socket-api.ts';
import {
  auditSeals,
  bucketEnv,
  deleteWorkspaces,
  projectSecretPermissions,
  saveWorkspaces,
} from './storage-permissions.ts';
import {
  deleteWebhooks,
  itemPermissions,
  manageWebhooks,
  publishNotices,
  sendWebhooks,
} from './table-permissions.ts';

export type DeadLetterQueues = {
  /** Invocations of the turn that failed after all their retries. */
  readonly turns: IQueue;
  /** Events that no function received, and invocations of other functions that failed after all their retries. */
  readonly events: IQueue;
};

export type PermissionCatalogProps = {
  readonly settings: Settings;
  readonly adminTokenHash: string;
  readonly data: PlatformData;
  readonly network: SandboxNetwork;
  readonly sandboxes: SandboxCluster;
  readonly socketApi: RealtimeApi;
  readonly deadLetterQueues: DeadLetterQueues;
};

type Created = { readonly [F in FunctionName]?: { readonly lambda: FunctionTarget } };
type Options = Pick<FunctionOptions, 'functionName' | 'securityGroups' | 'vpc' | 'vpcSubnets'> & {
  readonly rolePath?: string;
};

export type PermissionCatalog = ReturnType<typeof permissionCatalog>;

/** `created` fills up row by row: a permission to invoke a function is read after the row of that function. */
export const permissionCatalog = (scope: Construct, props: PermissionCatalogProps, created: Created) => {
  const { settings, data, network, sandboxes, socketApi, deadLetterQueues } = props;
  const { deployment } = settings;
  const scheduleGroup = new ScheduleGroup(scope, 'Schedules', {
    deployment,
    deadLetterQueue: deadLetterQueues.events,
  });
  const turn = functionNamed(Stack.of(scope), `${deployment}-turn`);
  const terminal = functionNamed(Stack.of(scope), `${deployment}-terminal`);
  const relay = functionNamed(Stack.of(scope), `${deployment}-relay`);
  const targetOf = (name: FunctionName): FunctionTarget => {
    const target = created[name]?.lambda;
    if (target === undefined) throw new Error(`the row of ${name} must stand above those that invoke it`);
    return target;
  };
  const options: { readonly [F in FunctionName]?: Options } = {
    turn: { functionName: turn.functionName },
    terminal: { functionName: terminal.functionName },
    relay: { functionName: relay.functionName },
    schedules: { functionName: scheduleGroup.target.functionName },
    'sandbox-link': linkOptions(network),
  };
  return {
    optionsOf: (name: FunctionName): Options => options[name] ?? {},
    items: itemPermissions(data),
    adminToken: env({ ADMIN_TOKEN_SHA256: props.adminTokenHash }),
    sendFrames: socketApi.sendFrames,
    closeConnections: socketApi.closeConnections,
    invokeTurn: invoke('TURN_FUNCTION', turn),
    invokeTerminal: invoke('TERMINAL_FUNCTION', terminal),
    invokeRelay: invoke('RELAY_FUNCTION', relay),
    get invokeJanitor() {
      return invoke('JANITOR_FUNCTION', targetOf('janitor'));
    },
    /** To have the tools called that programs of sandboxes may call. */
    get invokeMcp() {
      return invoke('MCP_FUNCTION', targetOf('mcp'));
    },
    get invokeOnConnected() {
      return invoke('ON_CONNECTED_FUNCTION', targetOf('on-connected'));
    },
    get invokeSchedules() {
      return invoke('SCHEDULES_FUNCTION', targetOf('schedules'));
    },
    /** A function that moves a turn, loses a sandbox or ends a run has notices for webhooks. */
    get notices() {
      return combine(publishNotices(data), invoke('WEBHOOKS_FUNCTION', targetOf('webhooks')));
    },
    sendWebhooks: sendWebhooks(data),
    manageWebhooks: manageWebhooks(data),
    deleteWebhooks: deleteWebhooks(data),
    /** To start sandboxes, to send requests into them, and to have their relays held. */
    get startSandboxes() {
      return combine(
        startSandboxes(props),
        invoke('RELAY_FUNCTION', relay),
        readSandboxSecret(data),
        invoke('SANDBOX_LINK_FUNCTION', targetOf('sandbox-link')),
      );
    },
    /** To send requests into sandboxes that run. */
    get useSandboxes() {
      return combine(readSandboxSecret(data), invoke('SANDBOX_LINK_FUNCTION', targetOf('sandbox-link')));
    },
    stopSandboxes: sandboxes.stopTasks,
    sandboxAddresses: env({ SANDBOX_ADDRESS_RANGE: network.vpc.vpcCidrBlock }),
    saveWorkspaces: saveWorkspaces(data),
    deleteWorkspaces: deleteWorkspaces(data.workspaces),
    readSeals: auditSeals(data, { writes: false }),
    writeSeals: auditSeals(data, { writes: true }),
    secrets: projectSecretPermissions(Stack.of(scope), {
      deployment,
      keyArn: settings.projectSecretsKeyArn ?? data.encryptionKey?.keyArn,
    }),
    createSchedules: scheduleGroup.createSchedules,
    /** To call model providers. Every function learns which of them have a key; only these may read it. */
    models: combine(readProviderKeys(settings), callClaude(settings), callBedrock(settings)),
    /** To make the model calls of programs of sandboxes, which need a key. */
    modelKeys: readProviderKeys(settings),
    clientSecret: readClientSecret(settings),
  };
};

/** The secret of the platform as a client of the OIDC issuer. */
const readClientSecret = ({ oidc }: Settings): Permission<object> =>
  oidc?.client?.secretArn === undefined
    ? permit()
    : permit({ actions: ['secretsmanager:GetSecretValue'], resources: [oidc.client.secretArn] });

const linkOptions = ({ vpc, linkGroup, linkRolePath }: SandboxNetwork): Options => ({
  rolePath: linkRolePath,
  vpc,
  vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
  securityGroups: [linkGroup],
});

type SharedVolumeVariables = { readonly SHARED_VOLUME?: string };

const startSandboxes = ({ settings, data, network, sandboxes }: PermissionCatalogProps) =>
  combine(
    sandboxes.runTasks,
    env({
      SANDBOX_SUBNETS: network.vpc.isolatedSubnets.map(({ subnetId }) => subnetId).join(','),
      SANDBOX_SECURITY_GROUP: network.sandboxGroup.securityGroupId,
    }),
    // Only the link moves the bytes of a checkpoint; the function that requests one names the bucket.
    bucketEnv(data.workspaces),
    env<SharedVolumeVariables>(sharedGuestPathOf(settings) === undefined ? {} : { SHARED_VOLUME: 'bucket' }),
  );

const readSandboxSecret = ({ sandboxSecret, encryptionKey }: PlatformData) =>
  combine(
    readSecret('SANDBOX_SECRET', sandboxSecret.secretArn),
    permit(...useKey(encryptionKey, { service: 'secretsmanager', actions: ['Decrypt'] })),
  );

const readProviderKeys = ({ providerKeyArns }: Settings): Permission<object> => {
  const resources = Object.values(providerKeyArns);
  return resources.length === 0
    ? permit()
    : permit({ actions: ['secretsmanager:GetSecretValue'], resources });
};

/** Only where Bedrock is the operator's choice. A profile routes a request to models in several regions. */
const callBedrock = ({ variables }: Settings): Permission<object> =>
  variables.LLM_PROVIDER !== 'bedrock'
    ? permit()
    : permit({
        actions: ['bedrock:InvokeModelWithResponseStream'],
        resources: [
          'arn:aws:bedrock:*::foundation-model/*',
          'arn:aws:bedrock:*:*:inference-profile/*',
          'arn:aws:bedrock:*:*:application-inference-profile/*',
        ],
        because: 'Sessions name their models, and a profile reaches a model in any region.',
      });

/** With the function's own role instead of a key (https://docs.claude.com, Claude Platform on AWS). */
const callClaude = ({ variables }: Settings): Permission<object> =>
  variables.ANTHROPIC_AUTH !== 'iam'
    ? permit()
    : permit({
        actions: ['CreateInference', 'CountTokens', 'GetModel', 'ListModels'].map(
          (action) => `aws-external-anthropic:${action}`,
        ),
        resources: [
          `arn:aws:aws-external-anthropic:*:*:workspace/${variables.ANTHROPIC_AWS_WORKSPACE_ID ?? '*'}`,
        ],
        because: 'The ARN of a Claude workspace carries neither a region nor an account of its own.',
      });
