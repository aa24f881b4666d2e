/** Monthly prices of resources by their type, and the types that are free while the platform is idle, each with its reason. */
import type { Resource } from '../../infra/stacks/synthesise.ts';
import type { Item } from './bill.ts';
import { hoursOfMonth, type PriceName } from './prices.ts';
import { storedGb } from './work.ts';

type Properties = Resource['Properties'];
/** `id` is the resource's logical id. */
type ItemsOf = (properties: Properties, id: string) => readonly Item[];

const item = (what: string, price: PriceName, amount = 1): Item => ({ what, price, amount });

/** DynamoDB calls KMS at most once per function and five minutes. */
const keyRequestsOfTable = hoursOfMonth * 12 * 3;

const table: ItemsOf = ({ Replicas = [{}], SSESpecification }) => {
  const recovered = Replicas.filter(
    (replica: Properties) => replica.PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled === true,
  );
  return [
    item('table: storage', 'tableGb', storedGb.table * Replicas.length),
    item('table: point-in-time recovery', 'tableRecoveryGb', storedGb.table * recovered.length),
    item('table: requests of its key', 'keyRequest', SSESpecification ? keyRequestsOfTable : 0),
  ];
};

/** A gateway endpoint is a route, and free. */
const endpoint: ItemsOf = ({ VpcEndpointType, SubnetIds = [] }) =>
  VpcEndpointType === 'Interface'
    ? [item('interface endpoints', 'interfaceEndpoint', hoursOfMonth * SubnetIds.length)]
    : [];

/** Each metric of an alarm is billed. */
const alarm: ItemsOf = ({ Metrics, Period = 60 }) => {
  const stats = Metrics?.filter((metric: Properties) => metric.MetricStat !== undefined) ?? [{}];
  const periods = [Period, ...stats.map((metric: Properties) => metric.MetricStat?.Period ?? 60)];
  const isFast = periods.some((seconds) => seconds < 60);
  return [item('alarms', isFast ? 'alarmMetricFast' : 'alarmMetric', stats.length)];
};

const bucket: ItemsOf = (_, id) => [
  item('buckets', 'objectGb', id.includes('Workspaces') ? storedGb.checkpoints : storedGb.otherBuckets),
];

const webAcl: ItemsOf = ({ Rules = [] }) => [
  item('web firewall', 'webAcl'),
  item('web firewall', 'webAclRule', Rules.length),
];

const cluster: ItemsOf = ({ ClusterSettings = [] }) => {
  const hasInsights = ClusterSettings.some(
    (setting: Properties) => setting.Name === 'containerInsights' && setting.Value !== 'disabled',
  );
  if (hasInsights) throw new Error('Container Insights bills every task: it has no price here');
  return [item('image registry', 'imageGb', storedGb.images)];
};

const restStage: ItemsOf = ({ CacheClusterEnabled }) => {
  if (CacheClusterEnabled === true)
    throw new Error('a cache of API Gateway is billed by the hour: it has no price here');
  return [];
};

export const pricedResources: Readonly<Record<string, ItemsOf>> = {
  'AWS::ApiGateway::Stage': restStage,
  'AWS::CloudWatch::Alarm': alarm,
  'AWS::CloudWatch::CompositeAlarm': () => [item('alarms', 'compositeAlarm')],
  'AWS::CloudWatch::Dashboard': () => [item('dashboards', 'dashboard')],
  'AWS::DynamoDB::GlobalTable': table,
  'AWS::EC2::VPCEndpoint': endpoint,
  'AWS::ECS::Cluster': cluster,
  'AWS::KMS::Key': () => [item('keys', 'key')],
  'AWS::Route53Resolver::FirewallDomainList': ({ Domains = [] }) => [
    item('DNS firewall', 'dnsDomain', Domains.length),
  ],
  'AWS::S3::Bucket': bucket,
  'AWS::SecretsManager::Secret': () => [item('secrets', 'secret')],
  'AWS::WAFv2::WebACL': webAcl,
};

/** A type that is neither here nor priced fails the bill: its author looks up its price first. */
const byUse = 'paid by use, which is counted as work';
const control = 'a rule or a permission, not a thing that runs';
const network = 'addresses and rules are free, unlike endpoints and gateways';
const part = 'a part of another resource, which has the price';

export const freeResources: Readonly<Record<string, string>> = {
  'AWS::ApiGateway::Account': control,
  'AWS::ApiGateway::ApiKey': control,
  'AWS::ApiGateway::Deployment': part,
  'AWS::ApiGateway::GatewayResponse': part,
  'AWS::ApiGateway::Method': part,
  'AWS::ApiGateway::RequestValidator': part,
  'AWS::ApiGateway::Resource': part,
  'AWS::ApiGateway::RestApi': byUse,
  'AWS::ApiGateway::UsagePlan': control,
  'AWS::ApiGateway::UsagePlanKey': control,
  'AWS::ApiGatewayV2::Api': byUse,
  'AWS::ApiGatewayV2::Authorizer': part,
  'AWS::ApiGatewayV2::Integration': part,
  'AWS::ApiGatewayV2::IntegrationResponse': part,
  'AWS::ApiGatewayV2::Route': part,
  'AWS::ApiGatewayV2::RouteResponse': part,
  'AWS::ApiGatewayV2::Stage': byUse,
  'AWS::CertificateManager::Certificate': 'public certificates are free',
  'AWS::CloudFormation::Stack': part,
  'AWS::CloudFront::CachePolicy': part,
  'AWS::CloudFront::Distribution': byUse,
  'AWS::CloudFront::Function': byUse,
  'AWS::CloudFront::OriginAccessControl': control,
  'AWS::CloudFront::ResponseHeadersPolicy': part,
  'AWS::EC2::FlowLog': 'paid by logged bytes: refused traffic of sandboxes, none of which run while idle',
  'AWS::EC2::NetworkAcl': network,
  'AWS::EC2::RouteTable': network,
  'AWS::EC2::SecurityGroup': network,
  'AWS::EC2::SecurityGroupEgress': network,
  'AWS::EC2::SecurityGroupIngress': network,
  'AWS::EC2::Subnet': network,
  'AWS::EC2::SubnetRouteTableAssociation': network,
  'AWS::EC2::VPC': network,
  'AWS::ECS::TaskDefinition': 'Fargate is paid by the second that a task runs',
  'AWS::Events::EventBusPolicy': control,
  'AWS::Events::Rule': 'its scheduled invocations are counted as work',
  'AWS::IAM::ManagedPolicy': control,
  'AWS::IAM::Policy': control,
  'AWS::IAM::Role': control,
  'AWS::KMS::Alias': part,
  'AWS::Lambda::EventInvokeConfig': part,
  'AWS::Lambda::Function': byUse,
  'AWS::Lambda::LayerVersion': part,
  'AWS::Lambda::Permission': control,
  'AWS::Logs::LogGroup': 'paid by logged bytes, which are counted as work',
  'AWS::Logs::MetricFilter':
    'its metric is billed in hours in which it counts something, which none is while idle',
  'AWS::Logs::QueryDefinition': 'a saved query; each run is paid by the bytes it reads',
  'AWS::Logs::ResourcePolicy': control,
  'AWS::Route53Resolver::FirewallRuleGroup': 'paid by the query, and idle sandboxes make none',
  'AWS::Route53Resolver::FirewallRuleGroupAssociation': control,
  'AWS::S3::BucketPolicy': control,
  'AWS::SSM::Parameter': 'parameters of the standard tier are free',
  'AWS::SNS::Subscription': byUse,
  'AWS::SNS::Topic': byUse,
  'AWS::SNS::TopicPolicy': control,
  'AWS::SQS::Queue': 'paid by the request; a dead-letter queue has none',
  'AWS::SQS::QueuePolicy': control,
  'AWS::Scheduler::ScheduleGroup': 'paid by the invocation, a dollar a million',
  'AWS::WAFv2::LoggingConfiguration': 'paid by logged bytes',
  'AWS::WAFv2::WebACLAssociation': part,
  'Custom::AWS': 'runs at a deploy',
  'Custom::CDKBucketDeployment': 'runs at a deploy',
  'Custom::CrossRegionExportReader': 'runs at a deploy',
  'Custom::CrossRegionExportWriter': 'runs at a deploy',
  'Custom::S3AutoDeleteObjects': 'runs when the stack is deleted',
  'Custom::VpcRestrictDefaultSG': 'runs at a deploy',
};
