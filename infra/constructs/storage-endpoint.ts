/**
 * S3 as the sandboxes' network sees it: layers of an image for everybody, checkpoints for the link alone.
 *
 * Sandboxes share the endpoint with the link but have no identity, and a condition on an identity fails
 * where there is none. A credential that somebody brings into a sandbox is another's, and fails as well.
 */
import { Stack } from 'aws-cdk-lib';
import { GatewayVpcEndpointAwsService, type IVpc, type SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { savingRights } from './workspace-need.ts';

export type StorageEndpointProps = {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  readonly workspaces: IBucket;
  /** The path of the one role under it that saves and restores. */
  readonly linkRolePath: string;
};

export class StorageEndpoint extends Construct {
  constructor(scope: Construct, id: string, props: StorageEndpointProps) {
    super(scope, id);
    const { vpc, subnets, workspaces, linkRolePath } = props;
    const { region, partition, account } = Stack.of(this);
    const endpoint = vpc.addGatewayEndpoint('S3', {
      service: GatewayVpcEndpointAwsService.S3,
      subnets: [subnets],
    });
    endpoint.addToPolicy(
      // ECR keeps layers in this bucket of AWS's own, and the URL it gives carries the permission.
      new PolicyStatement({
        principals: [new AnyPrincipal()],
        actions: ['s3:GetObject'],
        resources: [`arn:${partition}:s3:::prod-${region}-starport-layer-bucket/*`],
      }),
    );
    // A gateway endpoint knows a role by this condition only, never as the principal
    // (https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-access.html#vpc-endpoint-policies-gateway).
    const isLink = {
      ArnLike: { 'aws:PrincipalArn': `arn:${partition}:iam::${account}:role${linkRolePath}*` },
    };
    for (const { actions, resources } of savingRights(workspaces))
      endpoint.addToPolicy(
        new PolicyStatement({ principals: [new AnyPrincipal()], actions, resources, conditions: isLink }),
      );
  }
}
