/**
 * Prices of AWS in us-east-1, each with its date, and the permanent free tier of an account. The free tier of a new
 * account's first year is not counted.
 *
 * A price is changed here, with its date, and nowhere else. Other regions cost up to a third more.
 */

type Price = {
  readonly usd: number;
  /** The unit of the price. */
  readonly unit: string;
  readonly page: string;
  /** When the price was last compared with its page. */
  readonly asOf: string;
};

const november = '2026-11-01';

const at = (usd: number, unit: string, page: string): Price => ({
  usd,
  unit,
  page: `https://aws.amazon.com/${page}/pricing/`,
  asOf: november,
});

export const prices = {
  interfaceEndpoint: at(0.01, 'hour and zone', 'privatelink'),
  fargateVcpuArm: at(0.032_38, 'vCPU-hour', 'fargate'),
  fargateGbArm: at(0.003_56, 'GB-hour', 'fargate'),
  lambdaRequest: at(0.2e-6, 'request', 'lambda'),
  lambdaGbSecondArm: at(13.3334e-6, 'GB-second', 'lambda'),
  tableWriteUnit: at(0.625e-6, 'write request unit', 'dynamodb'),
  tableReadUnit: at(0.125e-6, 'read request unit', 'dynamodb'),
  tableGb: at(0.25, 'GB-month', 'dynamodb'),
  tableRecoveryGb: at(0.2, 'GB-month of point-in-time recovery', 'dynamodb'),
  objectGb: at(0.023, 'GB-month', 's3'),
  objectWrite: at(5e-6, 'PUT', 's3'),
  imageGb: at(0.1, 'GB-month', 'ecr'),
  alarmMetric: at(0.1, 'metric of an alarm and month', 'cloudwatch'),
  alarmMetricFast: at(0.3, 'metric of an alarm under a minute and month', 'cloudwatch'),
  compositeAlarm: at(0.5, 'composite alarm and month', 'cloudwatch'),
  customMetric: at(0.3, 'metric and month', 'cloudwatch'),
  dashboard: at(3, 'dashboard and month', 'cloudwatch'),
  logGb: at(0.5, 'GB of ingested logs', 'cloudwatch'),
  logKeptGb: at(0.03, 'GB-month of stored logs', 'cloudwatch'),
  trace: at(5e-6, 'trace recorded', 'xray'),
  key: at(1, 'key and month', 'kms'),
  keyRequest: at(3e-6, 'request', 'kms'),
  secret: at(0.4, 'secret and month', 'secrets-manager'),
  dnsDomain: at(0.0005, 'domain in a firewall list and month', 'route53'),
  dnsQuery: at(0.6e-6, 'query through a firewall', 'route53'),
  webAcl: at(5, 'web ACL and month', 'waf'),
  webAclRule: at(1, 'rule and month', 'waf'),
  restRequest: at(3.5e-6, 'request', 'api-gateway'),
  socketMessage: at(1e-6, 'message of up to 32 KB', 'api-gateway'),
  socketMinute: at(0.25e-6, 'connection-minute', 'api-gateway'),
  cdnRequest: at(1e-6, 'https request', 'cloudfront'),
} as const satisfies Record<string, Price>;

export type PriceName = keyof typeof prices;

/**
 * Always free, once per account: https://aws.amazon.com/free/ and the pages above. Dashboards are missing: the free ones
 * have at most fifty metrics, and the platform's has more.
 */
export const freeAmounts: Readonly<Partial<Record<PriceName, number>>> = {
  alarmMetric: 10,
  cdnRequest: 10_000_000,
  customMetric: 10,
  keyRequest: 20_000,
  lambdaGbSecondArm: 400_000,
  lambdaRequest: 1_000_000,
  logGb: 5,
  tableGb: 25,
  trace: 100_000,
};

export const hoursOfMonth = 730;
export const minutesOfMonth = hoursOfMonth * 60;
