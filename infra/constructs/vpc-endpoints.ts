/**
 * The endpoints of the sandboxes' VPC: two to the registry of the image, one to S3 for its layers and the checkpoints.
 *
 * The registry's endpoints allow only pulls of one repository by one account: a foreign credential inside a sandbox is of no
 * use there.
 */
import { DefaultStackSynthesizer, Stack } from 'aws-cdk-lib';
import {
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpointAwsService,
  type ISecurityGroup,
  type IVpc,
  type SubnetSelection,
} from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { saveStatements } from './storage-permissions.ts';

export type PullEndpointsProps = {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  readonly securityGroup: ISecurityGroup;
};

export class PullEndpoints extends Construct {
  constructor(scope: Construct, id: string, { vpc, subnets, securityGroup }: PullEndpointsProps) {
    super(scope, id);
    const services = {
      EcrApi: InterfaceVpcEndpointAwsService.ECR,
      EcrDocker: InterfaceVpcEndpointAwsService.ECR_DOCKER,
    };
    for (const [name, service] of Object.entries(services)) {
      const endpoint = vpc.addInterfaceEndpoint(name, {
        service,
        subnets,
        securityGroups: [securityGroup],
        open: false,
        privateDnsEnabled: true,
      });
      for (const statement of pulls(Stack.of(this))) endpoint.addToPolicy(statement);
    }
  }
}

const pulls = (stack: Stack): PolicyStatement[] => {
  const ours = { StringEquals: { 'aws:PrincipalAccount': stack.account } };
  return [
    new PolicyStatement({
      principals: [new AnyPrincipal()],
      actions: ['ecr:GetAuthorizationToken'],
      // This action has no resource.
      resources: ['*'],
      conditions: ours,
    }),
    new PolicyStatement({
      principals: [new AnyPrincipal()],
      actions: ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
      resources: [imageRepositoryArn(stack)],
      conditions: ours,
    }),
  ];
};

/** The bootstrap stack's repository, to which `cdk deploy` pushes images. */
const imageRepositoryArn = (stack: Stack): string => {
  const qualifier = stack.synthesizer.bootstrapQualifier ?? DefaultStackSynthesizer.DEFAULT_QUALIFIER;
  return stack.formatArn({
    service: 'ecr',
    resource: 'repository',
    resourceName: `cdk-${qualifier}-container-assets-${stack.account}-${stack.region}`,
  });
};

/**
 * The endpoint of S3: layers of the image for every caller, checkpoints for the link alone.
 *
 * Sandboxes share the endpoint with the link but have no identity, and a condition on an identity fails without one. A
 * foreign credential inside a sandbox has another identity, and fails as well.
 */
export type StorageEndpointProps = {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  readonly workspaces: IBucket;
  /** The path of the role that saves and restores, the only role under it. */
  readonly linkRolePath: string;
  /** Such paths of other deployments whose sandboxes are in the network. */
  readonly otherLinkRolePaths: readonly string[];
};

export class StorageEndpoint extends Construct {
  constructor(scope: Construct, id: string, props: StorageEndpointProps) {
    super(scope, id);
    const { vpc, subnets, workspaces, linkRolePath, otherLinkRolePaths } = props;
    const { region, partition, account } = Stack.of(this);
    const rolesOf = (path: string): string => `arn:${partition}:iam::${account}:role${path}*`;
    const endpoint = vpc.addGatewayEndpoint('S3', {
      service: GatewayVpcEndpointAwsService.S3,
      subnets: [subnets],
    });
    endpoint.addToPolicy(
      // ECR stores layers in this bucket of AWS, and its URLs carry the permission.
      new PolicyStatement({
        principals: [new AnyPrincipal()],
        actions: ['s3:GetObject'],
        resources: [`arn:${partition}:s3:::prod-${region}-starport-layer-bucket/*`],
      }),
    );
    // A gateway endpoint identifies a role by this condition only, never as the principal
    // (https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-access.html#vpc-endpoint-policies-gateway).
    const isLink = { ArnLike: { 'aws:PrincipalArn': rolesOf(linkRolePath) } };
    for (const { actions, resources } of saveStatements(workspaces))
      endpoint.addToPolicy(
        new PolicyStatement({ principals: [new AnyPrincipal()], actions, resources, conditions: isLink }),
      );
    if (otherLinkRolePaths.length > 0)
      endpoint.addToPolicy(
        // The names of their buckets are not known here; each link's role knows its own bucket alone.
        new PolicyStatement({
          principals: [new AnyPrincipal()],
          actions: saveStatements(workspaces).flatMap(({ actions = [] }) => actions),
          resources: ['*'],
          conditions: {
            ArnLike: { 'aws:PrincipalArn': otherLinkRolePaths.map(rolesOf) },
            StringEquals: { 'aws:ResourceAccount': account },
          },
        }),
      );
  }
}
