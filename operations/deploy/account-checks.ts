/** Judgement of an account by its facts: what stops a deploy, what will hurt in use, and what could not be read. Pure. */
import type { Settings } from '../../infra/settings.ts';
import type { AccountFacts, Zone } from './account-facts.ts';

export type Finding = {
  /** `stop`: a deploy would fail. `warn`: it works, and people will notice. `unknown`: the fact may not be read. */
  readonly level: 'stop' | 'warn' | 'unknown';
  readonly problem: string;
  readonly next: string;
};

const labels = { stop: 'Fault', warn: 'Note', unknown: 'Unknown' } as const;

export const textOf = ({ level, problem, next }: Finding): string =>
  `${labels[level]}: ${problem}\n  ${next}`;

/** Its commands name the region, since the profile of the reader may have another one. */
export const inRegion =
  (region: string) =>
  ({ next, ...finding }: Finding): Finding => ({
    ...finding,
    next: next.includes(' --region ')
      ? next
      : next.replace(/\baws [a-z0-9-]+ [a-z]+(?:-[a-z]+)+/, `$& --region ${region}`),
  });

export type Judged = {
  readonly settings: Settings;
  readonly region: string;
  readonly isFirst: boolean;
};

export const judgeAccount = (facts: AccountFacts, judged: Judged): readonly Finding[] => [
  ...lambdaFindings(facts, judged),
  ...fargateFindings(facts),
  ...vpcFindings(facts, judged),
  ...logRoleFindings(facts, judged),
  ...certificateFindings(facts, judged),
  ...distributionLogFindings(judged),
  ...zoneFindings(facts, judged),
];

/** Lambda keeps this much for functions without a reservation (https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html). */
const unreservedMin = 100;
/** At rest up to 6 functions run at a time; a person who works adds up to 5. */
const comfortable = 100;
const raise = (service: string, code: string): string =>
  `Ask for more: aws service-quotas request-service-quota-increase --service-code ${service} --quota-code ${code} --desired-value <number>`;

const unknown = (what: string): Finding => ({
  level: 'unknown',
  problem: `${what} cannot be read`,
  next: 'Ask the administrator of the account for the right to read it, or check it in the console.',
});

const lambdaFindings = ({ lambda }: AccountFacts, { settings, isFirst }: Judged): readonly Finding[] => {
  if (lambda === undefined) return [unknown('the concurrency of Lambda')];
  const reserved = Object.values(settings.reservedConcurrency).reduce((sum, one) => sum + one, 0);
  const rest = (isFirst ? lambda.unreserved : lambda.concurrency) - reserved;
  const next = raise('lambda', 'L-B99A9384');
  if (reserved > 0 && rest < unreservedMin)
    return [
      {
        level: 'stop',
        problem: `the stage reserves ${reserved} of ${lambda.concurrency} concurrent invocations of Lambda, which leaves ${rest} of the ${unreservedMin} that AWS keeps unreserved`,
        next: `${next}, or reserve less: reservedConcurrency`,
      },
    ];
  if (lambda.concurrency >= comfortable) return [];
  const people = Math.max(0, Math.floor((lambda.concurrency - 6) / 5));
  const problem = `Lambda runs ${lambda.concurrency} functions at a time in this account: at rest up to 6 run, so ${people} people can work before some are refused`;
  return [{ level: 'warn', problem, next }];
};

const vcpusMin = 8;

const fargateFindings = ({ fargateVcpus }: AccountFacts): readonly Finding[] => {
  if (fargateVcpus === undefined) return [unknown('the vCPU quota of Fargate')];
  if (fargateVcpus >= vcpusMin) return [];
  const problem = `Fargate runs ${fargateVcpus} vCPUs in this account, as many small sandboxes at a time`;
  return [{ level: fargateVcpus < 1 ? 'stop' : 'warn', problem, next: raise('fargate', 'L-3032A538') }];
};

const vpcFindings = ({ vpcs }: AccountFacts, { settings, isFirst }: Judged): readonly Finding[] => {
  if (!isFirst || settings.network.existing !== undefined) return [];
  if (vpcs === undefined) return [unknown('the number of VPCs')];
  if (vpcs.count < vpcs.max) return [];
  const problem = `all ${vpcs.max} VPCs of the region are in use, and the deployment creates one`;
  return [{ level: 'stop', problem, next: raise('vpc', 'L-F678F1CE') }];
};

const logRoleFindings = ({ apiLogRole }: AccountFacts, { settings }: Judged): readonly Finding[] => {
  if (settings.ownsApiLogRole !== false) return [];
  if (apiLogRole === undefined) return [unknown("the role of API Gateway's logs")];
  if (apiLogRole !== '') return [];
  const problem =
    "API Gateway has no role for logs in this account and region, and the stage's ownsApiLogRole forbids to set one";
  return [
    {
      level: 'stop',
      problem,
      next: 'Remove ownsApiLogRole of the stage: then a deploy sets a role where none is.',
    },
  ];
};

const certificateFindings = ({ certificate }: AccountFacts, { settings }: Judged): readonly Finding[] => {
  const { domain } = settings;
  if (domain === undefined) return [];
  if (certificate === undefined) return [unknown(`the certificate of ${domain.name}`)];
  const next = `Request one in us-east-1: aws acm request-certificate --region us-east-1 --validation-method DNS --domain-name ${domain.name}`;
  if (certificate.status !== 'ISSUED') {
    const problem = `the certificate of ${domain.name} is ${certificate.status}`;
    return [
      { level: 'stop', problem, next: certificate.status === 'PENDING_VALIDATION' ? validate(domain) : next },
    ];
  }
  if (certificate.names.some((name) => covers(name, domain.name))) return [];
  const problem = `the certificate covers ${certificate.names.join(', ')} and not ${domain.name}`;
  return [{ level: 'stop', problem, next }];
};

const validate = ({ certificateArn }: NonNullable<Settings['domain']>): string =>
  `Create the CNAME that validates it: aws acm describe-certificate --region us-east-1 --certificate-arn ${certificateArn} --query Certificate.DomainValidationOptions`;

/** https://docs.aws.amazon.com/solutions/latest/dynamic-image-transformation-for-amazon-cloudfront/opt-in-regions.html */
const regionsWithoutLogs: ReadonlySet<string> = new Set([
  'af-south-1',
  'ap-east-1',
  'eu-south-1',
  'me-south-1',
]);

const distributionLogFindings = ({ settings, region }: Judged): readonly Finding[] =>
  settings.distributionLogs && regionsWithoutLogs.has(region)
    ? [
        {
          level: 'stop',
          problem: `CloudFront delivers no access logs to a bucket in ${region}`,
          next: 'Do without them: distributionLogs false of the stage. Requests are still in the logs of API Gateway.',
        },
      ]
    : [];

/** A wildcard stands for one label. */
const covers = (pattern: string, name: string): boolean =>
  pattern === name || (pattern.startsWith('*.') && name.slice(name.indexOf('.')) === pattern.slice(1));

/** Regions in which Fargate is not everywhere (https://docs.aws.amazon.com/AmazonECS/latest/developerguide/AWS_Fargate-Regions.html). */
const fargateZones: Readonly<Record<string, readonly string[]>> = {
  'us-west-1': ['usw1-az1', 'usw1-az3'],
  'ap-northeast-1': ['apne1-az1', 'apne1-az2', 'apne1-az4'],
};
/** Reported without arm64, though not documented. */
const zonesAvoided = ['use1-az3'];

/** Zones that have Fargate and both endpoints, those without reports first. */
export const usableZones = (
  { zones = [], endpointZones = [] }: AccountFacts,
  region: string,
): readonly Zone[] => {
  const usable = zones.filter(
    ({ name, id }) =>
      (fargateZones[region]?.includes(id) ?? true) && endpointZones.every((names) => names.includes(name)),
  );
  return usable.toSorted(
    (one, other) => Number(zonesAvoided.includes(one.id)) - Number(zonesAvoided.includes(other.id)),
  );
};

const withoutZones = {
  level: 'stop',
  next: 'Name a zone with Fargate and endpoints of ECR: network.zoneIds of the stage.',
} as const;

const zoneFindings = (facts: AccountFacts, { settings, region, isFirst }: Judged): readonly Finding[] => {
  const { existing, zoneIds, zones } = settings.network;
  if (existing !== undefined) return [];
  if (facts.zones === undefined || facts.endpointZones === undefined)
    return [{ ...unknown("the region's zones"), ...(isFirst && zoneIds === undefined && withoutZones) }];
  const usable = usableZones(facts, region).map(({ id }) => id);
  const next = `Zones with both: ${usable.join(', ')}. Set network.zones and network.zoneIds.`;
  const bad = (zoneIds ?? []).filter((id) => !usable.includes(id));
  if (bad.length > 0)
    return [
      { level: 'stop', problem: `${bad.join(', ')} has no Fargate or no endpoint of the registry`, next },
    ];
  if (usable.length >= zones) return [];
  return [
    {
      level: 'stop',
      problem: `the region has ${usable.length} zones for sandboxes, and the stage wants ${zones}`,
      next,
    },
  ];
};
