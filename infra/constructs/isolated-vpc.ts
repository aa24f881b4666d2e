/** A VPC of isolated subnets, with no gateway of any kind and an empty default security group. */
import { type CfnResource, Fn, Stack } from 'aws-cdk-lib';
import { IpAddresses, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';
import { keptLog, type LogKeeping } from './kept-log.ts';

export type IsolatedVpcProps = {
  readonly cidr?: string;
  readonly zones?: number;
  readonly logs?: LogKeeping;
};

/** What the CDK calls the function that empties the group; there is one for each stack. */
const emptier = 'Custom::VpcRestrictDefaultSGCustomResourceProvider';

export const isolatedVpc = (
  scope: Construct,
  { cidr = '10.77.0.0/16', zones = 1, logs = {} }: IsolatedVpcProps,
): Vpc => {
  const vpc = new Vpc(scope, 'Vpc', {
    ipAddresses: IpAddresses.cidr(cidr),
    availabilityZones: Array.from({ length: zones }, (_, zone) => Fn.select(zone, Fn.getAzs())),
    subnetConfiguration: [{ name: 'sandbox', subnetType: SubnetType.PRIVATE_ISOLATED }],
    natGateways: 0,
    createInternetGateway: false,
    restrictDefaultSecurityGroup: true,
  });
  const handler = Stack.of(scope).node.findChild(emptier).node.findChild('Handler') as CfnResource;
  const { logGroupName } = keptLog(scope, 'VpcLogs', logs);
  handler.addPropertyOverride('LoggingConfig', { LogGroup: logGroupName });
  return vpc;
};
