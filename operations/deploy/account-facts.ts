/**
 * Facts of an account that a deployment depends on, as the `aws` program answers: quotas, zones, the role of API Gateway's
 * logs, the certificate. It changes nothing; a fact that may not be read is absent, and its check says so.
 */
import { cloudFrontRegion } from '../../infra/settings.ts';
import type { Aws } from './aws.ts';
import type { Target } from './command.ts';
import { Failure } from './programs.ts';

export type Zone = { readonly name: string; readonly id: string };

export type AccountFacts = {
  /** Lambda's concurrent invocations in the region: all, and those that no function has reserved. */
  readonly lambda?: { readonly concurrency: number; readonly unreserved: number };
  /** vCPUs of Fargate on demand. */
  readonly fargateVcpus?: number;
  readonly vpcs?: { readonly count: number; readonly max: number };
  /** The role by which API Gateway writes logs; empty: none. */
  readonly apiLogRole?: string;
  /** Of the domain in the settings. */
  readonly certificate?: { readonly status: string; readonly names: readonly string[] };
  readonly zones?: readonly Zone[];
  /** The names of the zones that each endpoint of the registry is in. */
  readonly endpointZones?: readonly (readonly string[])[];
};

const refusals = [
  'AccessDenied',
  'AccessDeniedException',
  'UnauthorizedOperation',
  'NoSuchResourceException',
];

export const readFacts = async ({ aws, settings }: Target): Promise<AccountFacts> => {
  const read = <T>(...words: readonly string[]): Promise<T | undefined> => aws.find<T>(refusals, ...words);
  const [lambda, fargateVcpus, vpcs, apiLogRole, certificate, zones, endpointZones] = await Promise.all([
    read<Lambda>('lambda', 'get-account-settings'),
    quota(read, 'fargate', 'L-3032A538'),
    vpcsOf(read),
    read<{ readonly cloudwatchRoleArn?: string }>('apigateway', 'get-account'),
    settings.domain && certificateOf(aws.in(cloudFrontRegion), settings.domain.certificateArn),
    zonesOf(read),
    endpointZonesOf(read, aws.region),
  ]);
  return {
    ...(lambda && {
      lambda: {
        concurrency: lambda.AccountLimit.ConcurrentExecutions,
        unreserved: lambda.AccountLimit.UnreservedConcurrentExecutions,
      },
    }),
    ...(fargateVcpus !== undefined && { fargateVcpus }),
    ...(vpcs && { vpcs }),
    ...(apiLogRole !== undefined && { apiLogRole: apiLogRole.cloudwatchRoleArn ?? '' }),
    ...(certificate && { certificate }),
    ...(zones && { zones }),
    ...(endpointZones && { endpointZones }),
  };
};

type Read = <T>(...words: readonly string[]) => Promise<T | undefined>;
type Lambda = {
  readonly AccountLimit: {
    readonly ConcurrentExecutions: number;
    readonly UnreservedConcurrentExecutions: number;
  };
};

const quota = async (read: Read, service: string, code: string): Promise<number | undefined> => {
  const words = ['get-service-quota', '--service-code', service, '--quota-code', code] as const;
  const found = await read<{ readonly Quota: { readonly Value: number } }>('service-quotas', ...words);
  return found?.Quota.Value;
};

const vpcsOf = async (read: Read): Promise<AccountFacts['vpcs']> => {
  const listed = await read<{ readonly Vpcs: readonly object[] }>('ec2', 'describe-vpcs');
  const max = await quota(read, 'vpc', 'L-F678F1CE');
  return listed === undefined || max === undefined ? undefined : { count: listed.Vpcs.length, max };
};

type Certificate = {
  readonly Certificate: {
    readonly Status: string;
    readonly DomainName: string;
    readonly SubjectAlternativeNames?: readonly string[];
  };
};

const certificateOf = async (aws: Aws, arn: string): Promise<AccountFacts['certificate']> => {
  const words = ['describe-certificate', '--certificate-arn', arn] as const;
  const missing = ['ResourceNotFoundException', 'ValidationException', 'InvalidArnException'];
  const found = await aws.find<Certificate>(missing, 'acm', ...words).catch(unlessRefused);
  if (found === 'refused') return undefined;
  if (found === undefined) return { status: 'not found in us-east-1', names: [] };
  const { Status, DomainName, SubjectAlternativeNames = [] } = found.Certificate;
  return { status: Status, names: [...new Set([DomainName, ...SubjectAlternativeNames])] };
};

const unlessRefused = (error: unknown): 'refused' => {
  if (error instanceof Failure && refusals.some((code) => error.message.includes(code))) return 'refused';
  throw error;
};

type ListedZones = {
  readonly AvailabilityZones: readonly {
    readonly ZoneName: string;
    readonly ZoneId: string;
    readonly ZoneType: string;
    readonly State: string;
  }[];
};

const zonesOf = async (read: Read): Promise<readonly Zone[] | undefined> =>
  (await read<ListedZones>('ec2', 'describe-availability-zones'))?.AvailabilityZones.filter(
    ({ ZoneType, State }) => ZoneType === 'availability-zone' && State === 'available',
  ).map(({ ZoneName, ZoneId }) => ({ name: ZoneName, id: ZoneId }));

type Services = { readonly ServiceDetails: readonly { readonly AvailabilityZones: readonly string[] }[] };

const endpointZonesOf = async (read: Read, region: string): Promise<AccountFacts['endpointZones']> => {
  const names = ['ecr.api', 'ecr.dkr'].map((service) => `com.amazonaws.${region}.${service}`);
  const words = ['describe-vpc-endpoint-services', '--service-names', ...names] as const;
  return (await read<Services>('ec2', ...words))?.ServiceDetails.map(
    ({ AvailabilityZones }) => AvailabilityZones,
  );
};
