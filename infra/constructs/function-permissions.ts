/**
 * What several functions need, written once: who may talk, who is woken, who starts sandboxes.
 *
 * Two functions are named before they are made: the turn, which hands over to itself, and which the janitor
 * wakes as it is woken by it.
 */
import { ArnFormat, type Stack } from 'aws-cdk-lib';
import { type Settings, sharedGuestPathOf } from '../settings.ts';
import { all, invoking, knowing, may, type Need, reading } from './permission.ts';
import type { PlatformData } from './platform-data.ts';
import { usingKey } from './platform-key.ts';
import type { SandboxCluster } from './sandbox-cluster.ts';
import type { SandboxNetwork } from './sandbox-network.ts';
import type { RealtimeApi } from './socket-api.ts';
import {
  clearingProjectSecrets,
  keepingProjectSecrets,
  knowingWorkspaces,
  readingProjectSecrets,
} from './storage-permissions.ts';

export type SharedNeedsProps = {
  readonly settings: Settings;
  readonly adminTokenHash: string;
  readonly data: PlatformData;
  readonly network: SandboxNetwork;
  readonly sandboxes: SandboxCluster;
  readonly door: RealtimeApi;
};

type SharedVolumeVariables = { readonly SHARED_VOLUME?: string };

type Target = { readonly functionName: string; readonly functionArn: string };

export const sharedNeeds = (stack: Stack, props: SharedNeedsProps) => {
  const { settings, adminTokenHash, data, network, sandboxes } = props;
  const turns = invoking('TURN_FUNCTION', turnTarget(stack, settings));
  const placement = knowing({
    SANDBOX_SUBNETS: network.vpc.isolatedSubnets.map(({ subnetId }) => subnetId).join(','),
    SANDBOX_SECURITY_GROUP: network.sandboxGroup.securityGroupId,
  });
  const starting = all(
    sandboxes.running,
    reading('SANDBOX_SECRET', data.sandboxSecret.secretArn),
    may(...usingKey(data.encryptionKey, { service: 'secretsmanager', actions: ['Decrypt'] })),
    placement,
    // Bytes of a checkpoint go between sandbox, link and bucket; whoever asks for it only names it.
    knowingWorkspaces(data.workspaces),
    knowing<SharedVolumeVariables>(
      sharedGuestPathOf(settings) === undefined ? {} : { SHARED_VOLUME: 'bucket' },
    ),
  );
  return {
    access: knowing({ ADMIN_TOKEN_SHA256: adminTokenHash }),
    turns,
    secrets: projectSecretsNeeds(stack, props),
    /** To start sandboxes, and to reach into them. */
    sandboxesBy: (link: Target) => all(starting, invoking('SANDBOX_LINK_FUNCTION', link)),
    /** To talk to model providers. */
    models: all(mayReadKeys(settings), mayAskClaude(settings)),
  };
};

const projectSecretsNeeds = (stack: Stack, { settings, data }: SharedNeedsProps) => {
  const keyArn = settings.projectSecretsKeyArn ?? data.encryptionKey?.keyArn;
  const secrets = { deployment: settings.deployment, keyArn };
  return {
    reading: readingProjectSecrets(stack, secrets),
    clearing: clearingProjectSecrets(stack, secrets),
    keeping: keepingProjectSecrets(stack, secrets),
  };
};

const mayReadKeys = ({ providerKeyArns }: Settings): Need<object> => {
  const resources = Object.values(providerKeyArns);
  return resources.length === 0 ? may() : may({ actions: ['secretsmanager:GetSecretValue'], resources });
};

/** With the function's own role instead of a key (https://docs.claude.com, Claude Platform on AWS). */
const mayAskClaude = ({ variables }: Settings): Need<object> =>
  variables.ANTHROPIC_AUTH !== 'iam'
    ? may()
    : may({
        actions: ['CreateInference', 'CountTokens', 'GetModel', 'ListModels'].map(
          (action) => `aws-external-anthropic:${action}`,
        ),
        resources: [
          `arn:aws:aws-external-anthropic:*:*:workspace/${variables.ANTHROPIC_AWS_WORKSPACE_ID ?? '*'}`,
        ],
        because: 'A workspace of Claude has no region or account of its own in its name.',
      });

/** A function can not read its own generated name: the turn alone is named. */
export const turnTarget = (stack: Stack, { deployment }: Settings): Target => {
  const functionName = `${deployment}-turn`;
  const functionArn = stack.formatArn({
    service: 'lambda',
    resource: 'function',
    resourceName: functionName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  return { functionName, functionArn };
};
