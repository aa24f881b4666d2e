/**
 * Settings of a deployment: one record per stage holds everything in which deployments differ.
 *
 * No secret is stored here. Keys of model providers are named by the ARN of a secret; the hash of the admin
 * token is a parameter of the compute stack, given at the first deploy. Every setting: docs/deploy.md.
 */
import type { FunctionName } from '#shared/config/environment.ts';
import { readVariables, type Variables } from '#shared/config/read-variables.ts';
import {
  operatorSettings,
  type providerKeys,
  sandboxSettings,
  volumeSettings,
} from '#shared/config/settings.ts';

type ProviderKey = (typeof providerKeys)[number];
type OperatorVariable = keyof (typeof operatorSettings)['shape'];

/**
 * The sizes of sandboxes as IAM policies know them: each has its own number of CPU units.
 *
 * The sizes themselves are defined in `shared/domain/flavor.ts`; a test compares these numbers with those.
 */
export const cpuUnits = { micro: 512, small: 1024, medium: 2048, large: 4096 } as const;

export type Flavor = keyof typeof cpuUnits;

/** The size of agent sessions that name none. The same test compares it. */
export const agentFlavor: Flavor = 'micro';

/** The region of everything that CloudFront reads: its web firewall, its certificates. */
export const cloudFrontRegion = 'us-east-1';

/** An issuer whose JWTs are credentials beside tokens; a field that is left out has the default of `shared/config`. */
export type Oidc = {
  /** Exactly as in the `iss` of its tokens. */
  readonly issuer: string;
  readonly audience: string;
  /** The claim that holds a person's scope. */
  readonly scopeClaim?: string;
  /** The scope of people whose token has no such claim; absent: they may do nothing. */
  readonly defaultScope?: string;
  /** The platform as a client of the issuer: people sign in to the web app with it. Absent: with tokens only. */
  readonly client?: {
    readonly id: string;
    /** The complete ARN of a secret in this account and region, which holds the client's secret; absent: a public client. */
    readonly secretArn?: string;
    /** The scopes that the issuer is asked for. */
    readonly scopes?: string;
    /** The lifetime of a sign-in. */
    readonly signInSeconds?: number;
  };
};

/** A VPC that exists already. CloudFormation reads nothing of its contents, so the operator confirms its isolation. */
export type ExistingNetwork = {
  readonly vpcId: string;
  readonly cidr: string;
  readonly availabilityZones: readonly string[];
  /** One for each zone, in their order, and the route table of each. */
  readonly subnetIds: readonly string[];
  readonly routeTableIds: readonly string[];
  /** No gateway, NAT, peering or route leads out of it, its default security group is empty, and nothing else is in it. */
  readonly isIsolated: true;
  /**
   * The security group of its endpoints of ECR, where it is the network of another deployment, whose `sharedWith` names this one: its
   * endpoints, DNS firewall and flow log serve both. Absent: it has none, and this deployment makes them.
   */
  readonly endpointsGroupId?: string;
};

export type NetworkSettings = {
  /** The sandboxes' own address range: nothing routes to it from outside. */
  readonly cidr: string;
  /** Each zone costs two interface endpoints. */
  readonly zones: number;
  /**
   * The ids of the zones (`use1-az4`), as many as `zones`, each in the place that it has had: a further one is added at the end.
   * Absent: the first deploy chooses zones that have what sandboxes need, and CloudFormation keeps them.
   */
  readonly zoneIds?: readonly string[];
  /** The traffic that the VPC's flow log records. Absent: refused traffic, which is what a sandbox attempted. */
  readonly flowLogs?: 'refused' | 'all';
  /** Other deployments of the account and region, from the same bootstrap, whose sandboxes are in this network too. */
  readonly sharedWith?: readonly string[];
  /** An existing VPC, for sandboxes alone, instead of a new one; the other address range and zones are then ignored. */
  readonly existing?: ExistingNetwork;
};

export type Settings = {
  /** Names the stacks, the tasks (`startedBy`) and the task families: unique in an account and region. */
  readonly deployment: string;
  /** The only account and region into which the stage may be deployed. Absent: those of the person who deploys. */
  readonly account?: string;
  readonly region?: string;
  /** On every resource that takes tags. */
  readonly tags?: Readonly<Record<string, string>>;
  /** The policy that bounds every role of the deployment. */
  readonly permissionsBoundaryArn?: string;
  /** Of the CDK's bootstrap, where it has one of its own. */
  readonly bootstrapQualifier?: string;
  /** As an operator writes them; a variable that is left out has the default of `shared/config/settings.ts`. */
  readonly variables: {
    readonly [K in Exclude<OperatorVariable, ProviderKey | 'SIGN_IN_SECONDS' | `OIDC_${string}`>]?: string;
  };
  readonly oidc?: Oidc;
  /** Complete ARNs of secrets in this account and region, each holding one key as its text. */
  readonly providerKeyArns: { readonly [K in ProviderKey]?: string };
  /**
   * The key that encrypts table, checkpoints, secrets and logs: AWS's own, which is free, one that the data stack
   * creates, or an existing one in this account and region.
   */
  readonly encryption: 'aws-managed' | 'customer-managed' | { readonly keyArn: string };
  /** Another key for projects' secrets than that of `encryption`, in this account and region. */
  readonly projectSecretsKeyArn?: string;
  /**
   * A bucket with Object Lock for the seals of the audit log: for so many days, 1 to 36500, only a caller with the right to
   * bypass governance can delete one. Absent: seals are in the bucket of the checkpoints. Once set it stays set: without it new seals continue those of before.
   */
  readonly seals?: { readonly objectLockDays: number };
  readonly network: NetworkSettings;
  /**
   * Sizes in which a sandbox may be started: no function has the permission to start another. Absent: all. Projects
   * see their own limits; a start that violates this one fails.
   */
  readonly flavorsAllowed?: readonly Flavor[];
  /** The base image of a template instead of the Dockerfile's own: Debian with Node 24 and the packages of a team. */
  readonly templates?: { readonly [K in 'python' | 'node']?: { readonly baseImage: string } };
  /** Absent: CloudFront's own name and certificate. The certificate is in us-east-1. */
  readonly domain?: { readonly name: string; readonly certificateArn: string };
  /** A web firewall in front of CloudFront, in a stack of its own in us-east-1. */
  readonly firewall: boolean;
  /**
   * Access logs of CloudFront, which it delivers by access control list, and not in every region. Without them a request is still in
   * those of API Gateway, and a read of the web app in those of its bucket.
   */
  readonly distributionLogs: boolean;
  /** The retention of every log group, in days: one of the values that CloudWatch Logs accepts. */
  readonly logDays: number;
  /**
   * This deployment sets the account's role for API Gateway logs, or must not. Absent: it does where the account has none, which
   * the first deploy finds out.
   */
  readonly ownsApiLogRole?: boolean;
  readonly alarmEmails: readonly string[];
  /** The address of docs/runbook.md: alarms and dashboard link to its headings. Absent: its path in the repository. */
  readonly runbookUrl?: string;
  /** An existing topic that receives the alarms; absent: a new one. */
  readonly alarmTopicArn?: string;
  readonly requestsPerSecondMax: number;
  readonly requestBurstMax: number;
  /** Concurrent invocations that are reserved for a function and are its limit; new accounts must leave their whole quota unreserved. */
  readonly reservedConcurrency: { readonly [F in FunctionName]?: number };
};

export const defaults: Settings = {
  deployment: 'sallyport',
  variables: {},
  providerKeyArns: {},
  encryption: 'aws-managed',
  network: { cidr: '10.77.0.0/16', zones: 1 },
  firewall: false,
  distributionLogs: true,
  logDays: 30,
  alarmEmails: [],
  requestsPerSecondMax: 500,
  requestBurstMax: 1000,
  reservedConcurrency: {},
};

/** Chosen by `cdk deploy -c stage=<name>`. */
export const stages = {
  production: defaults,
  staging: { ...defaults, deployment: 'sallyport-staging' },
  /** Survives the loss of a zone, records every packet, has its own key and a web firewall, and locks its seals; each costs money. */
  hardened: {
    ...defaults,
    deployment: 'sallyport-hardened',
    encryption: 'customer-managed',
    network: { ...defaults.network, zones: 2, flowLogs: 'all' },
    firewall: true,
    logDays: 365,
    // As long as the audit log retains its rows.
    seals: { objectLockDays: 365 },
    // The turn cannot starve the others, nor they the turn; the rest of the usual 1000 is the account's.
    reservedConcurrency: { turn: 200, 'sandbox-link': 200, janitor: 10, 'task-events': 20 },
  },
} as const satisfies Record<string, Settings>;

export type StageName = keyof typeof stages;

export const settingsOf = (stage: string): Settings => {
  if (!Object.hasOwn(stages, stage))
    throw new Error(`there is no stage ${JSON.stringify(stage)}: one of ${Object.keys(stages).join(', ')}`);
  return stages[stage as StageName];
};

/** S3's own limit for the default retention of a bucket: a hundred years. */
const objectLockDaysMax = 36_500;

/** Stops the synth with the same line as a start of the program. */
export const checkSettings = (settings: Settings): void => {
  const result = readVariables(operatorSettings, variablesOf(settings));
  if (!result.ok) throw new Error(`infra/settings.ts: ${result.problems.join('; ')}`);
  const { flavorsAllowed, seals } = settings;
  if (seals !== undefined && !isDays(seals.objectLockDays))
    throw new Error(
      `infra/settings.ts: seals.objectLockDays is ${seals.objectLockDays}, and not a whole number of days from 1 to ${objectLockDaysMax}`,
    );
  if (flavorsAllowed !== undefined) checkFlavors(flavorsAllowed, result.value.MSB_DEFAULT_FLAVOR);
};

/** Sessions that name no flavor would never get a sandbox, and the synthetic check would fail every hour. */
const checkFlavors = (allowed: readonly string[], executionFlavor: string): void => {
  const unknown = allowed.filter((name) => !Object.hasOwn(cpuUnits, name));
  if (unknown.length > 0)
    throw new Error(
      `infra/settings.ts: flavorsAllowed names ${unknown.join(', ')}: one of ${Object.keys(cpuUnits).join(', ')}`,
    );
  if (!allowed.includes(executionFlavor))
    throw new Error(
      `infra/settings.ts: flavorsAllowed leaves out ${executionFlavor}, which sessions have by default: allow it, or set MSB_DEFAULT_FLAVOR`,
    );
  if (!allowed.includes(agentFlavor))
    throw new Error(
      `infra/settings.ts: flavorsAllowed leaves out ${agentFlavor}, which agent sessions and the synthetic check have by default: allow it`,
    );
};

const isDays = (days: number): boolean => Number.isInteger(days) && days >= 1 && days <= objectLockDaysMax;

/** The settings as variables of functions: those of the operator, keys by their ARNs, and the issuer. */
export const variablesOf = ({ variables, providerKeyArns, oidc }: Settings): Variables => ({
  ...variables,
  ...providerKeyArns,
  ...(oidc && {
    OIDC_ISSUER: oidc.issuer,
    OIDC_AUDIENCE: oidc.audience,
    OIDC_SCOPE_CLAIM: oidc.scopeClaim,
    OIDC_DEFAULT_SCOPE: oidc.defaultScope,
    OIDC_CLIENT_ID: oidc.client?.id,
    OIDC_CLIENT_SECRET: oidc.client?.secretArn,
    OIDC_LOGIN_SCOPES: oidc.client?.scopes,
    SIGN_IN_SECONDS: oidc.client?.signInSeconds?.toString(),
  }),
});

/** The path of the shared volume inside sandboxes; undefined without a volume. */
export const sharedGuestPathOf = ({ variables }: Settings): string | undefined => {
  const volume = readVariables(volumeSettings, variables);
  if (!volume.ok || volume.value.MSB_SHARED_VOLUME_PATH === undefined) return undefined;
  return volume.value.MSB_SHARED_VOLUME_GUEST_PATH;
};

/** Templates in addition to the platform's own. */
export const namedTemplatesOf = ({ variables }: Settings) => {
  const settings = readVariables(sandboxSettings, variables);
  return settings.ok ? settings.value.SANDBOX_TEMPLATES : undefined;
};
