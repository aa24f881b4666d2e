/**
 * What several functions need, written once: who may talk, who is woken, who starts sandboxes.
 *
 * Two functions are named before they are made: the turn, which hands over to itself, and which the janitor
 * wakes as it is woken by it.
 */
import { ArnFormat, type Stack } from 'aws-cdk-lib';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { type Settings, sharedGuestPathOf } from '../settings.ts';
import type { NetworkStack } from '../stacks/network-stack.ts';
import { all, invoking, knowing, may, type Need, reading } from './need.ts';
import type { SandboxTasks } from './sandbox-tasks.ts';
import type { SocketDoor } from './socket-door.ts';
import { workingOn } from './table-need.ts';
import { knowingWorkspaces } from './workspace-need.ts';

export type SharedNeedsProps = {
  readonly settings: Settings;
  readonly adminTokenHash: string;
  readonly table: ITableV2;
  readonly workspaces: IBucket;
  readonly sandboxSecret: ISecret;
  readonly network: NetworkStack;
  readonly tasks: SandboxTasks;
  readonly door: SocketDoor;
};

type SharedVolumeVariables = { readonly SHARED_VOLUME?: string };

type Target = { readonly functionName: string; readonly functionArn: string };

export const sharedNeeds = (stack: Stack, props: SharedNeedsProps) => {
  const { settings, adminTokenHash, table, workspaces, sandboxSecret, network, tasks, door } = props;
  const turns = invoking('TURN_FUNCTION', turnTarget(stack, settings));
  const placement = knowing({
    SANDBOX_SUBNETS: network.vpc.isolatedSubnets.map(({ subnetId }) => subnetId).join(','),
    SANDBOX_SECURITY_GROUP: network.sandboxGroup.securityGroupId,
  });
  const starting = all(
    tasks.running,
    reading('SANDBOX_SECRET', sandboxSecret.secretArn),
    placement,
    // Bytes of a checkpoint go between sandbox, link and bucket; whoever asks for it only names it.
    knowingWorkspaces(workspaces),
    knowing<SharedVolumeVariables>(
      sharedGuestPathOf(settings) === undefined ? {} : { SHARED_VOLUME: 'bucket' },
    ),
  );
  return {
    access: knowing({ ADMIN_TOKEN_SHA256: adminTokenHash }),
    turns,
    /** To start sandboxes, and to reach into them. */
    sandboxesBy: (link: Target) => all(starting, invoking('SANDBOX_LINK_FUNCTION', link)),
    work: all(workingOn(table), door.posting, turns),
    /** To talk to model providers. */
    models: all(mayReadKeys(settings), mayAskClaude(settings)),
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
