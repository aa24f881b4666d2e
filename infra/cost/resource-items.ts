/** What a resource of the template costs by the month, by its type: only those that cost something stand here. */
import type { Resource } from '../stacks/synthesise.ts';
import type { Item } from './bill.ts';
import { hoursOfMonth, type PriceName } from './prices.ts';
import { keptGb } from './work.ts';

type Properties = Resource['Properties'];
/** `id` is the resource's logical id. */
export type ItemsOf = (properties: Properties, id: string) => readonly Item[];

const item = (what: string, price: PriceName, amount = 1): Item => ({ what, price, amount });

/** A key of the table is asked for by each function every five minutes at most. */
const keyRequestsOfTable = hoursOfMonth * 12 * 3;

const table: ItemsOf = ({ Replicas = [{}], SSESpecification }) => {
  const recovered = Replicas.filter(
    (replica: Properties) => replica.PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled === true,
  );
  return [
    item('table: storage', 'tableGb', keptGb.table * Replicas.length),
    item('table: point-in-time recovery', 'tableRecoveryGb', keptGb.table * recovered.length),
    item('table: requests of its key', 'keyRequest', SSESpecification ? keyRequestsOfTable : 0),
  ];
};

/** A gateway endpoint is a route, and free. */
const endpoint: ItemsOf = ({ VpcEndpointType, SubnetIds = [] }) =>
  VpcEndpointType === 'Interface'
    ? [item('interface endpoints', 'interfaceEndpoint', hoursOfMonth * SubnetIds.length)]
    : [];

/** Each metric that an alarm looks at is paid for. */
const alarm: ItemsOf = ({ Metrics, Period = 60 }) => {
  const stats = Metrics?.filter((metric: Properties) => metric.MetricStat !== undefined) ?? [{}];
  const periods = [Period, ...stats.map((metric: Properties) => metric.MetricStat?.Period ?? 60)];
  const isFast = periods.some((seconds) => seconds < 60);
  return [item('alarms', isFast ? 'alarmMetricFast' : 'alarmMetric', stats.length)];
};

const bucket: ItemsOf = (_, id) => [
  item('buckets', 'objectGb', id.includes('Workspaces') ? keptGb.checkpoints : keptGb.otherBuckets),
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
  return [item('image registry', 'imageGb', keptGb.images)];
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
