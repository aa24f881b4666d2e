/**
 * The registry of the sandboxes' image, through two endpoints of the VPC; its layers come through that of S3.
 *
 * Each endpoint passes pulls of our own repository by our own account, and nothing else: a credential that
 * somebody brings into a sandbox is of no use at them.
 */
import { DefaultStackSynthesizer, Stack } from 'aws-cdk-lib';
import {
  InterfaceVpcEndpointAwsService,
  type ISecurityGroup,
  type IVpc,
  type SubnetSelection,
} from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';

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
      // This action knows no resource.
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

/** Where `cdk deploy` pushes images: the bootstrap stack's repository. */
const imageRepositoryArn = (stack: Stack): string => {
  const qualifier = stack.synthesizer.bootstrapQualifier ?? DefaultStackSynthesizer.DEFAULT_QUALIFIER;
  return stack.formatArn({
    service: 'ecr',
    resource: 'repository',
    resourceName: `cdk-${qualifier}-container-assets-${stack.account}-${stack.region}`,
  });
};
