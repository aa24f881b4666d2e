/**
 * What differs between deployments: one record each, and the code reads nothing else.
 *
 * No secret stands here. Keys of model providers are named by the ARN of a secret; the hash of the admin
 * token is a parameter of the compute stack, given at the first deploy.
 */
import type { FunctionName } from '#shared/config/environment.ts';
import { operatorSettings, readVariables, type Variables, volumeSettings } from '#shared/config/settings.ts';
import type { ExistingNetwork } from './constructs/existing-network.ts';
import { type Flavor, refuseDefaultFlavor } from './constructs/flavors.ts';

type ProviderKey = 'ANTHROPIC_API_KEY' | 'OPENAI_API_KEY' | 'GEMINI_API_KEY';
type OperatorVariable = keyof (typeof operatorSettings)['shape'];

/** An issuer whose JWTs stand beside tokens; what is left out has the default of `shared/config`. */
export type Oidc = {
  /** Exactly as its tokens say it in `iss`. */
  readonly issuer: string;
  readonly audience: string;
  /** The claim that holds a person's scope. */
  readonly scopeClaim?: string;
  /** Of people whose token has no such claim; absent: they may do nothing. */
  readonly defaultScope?: string;
};

export type NetworkSettings = {
  /** The sandboxes' own address range: nothing routes to it from outside. */
  readonly cidr: string;
  /** Each zone costs two interface endpoints. */
  readonly zones: number;
  /** What the VPC's flow log keeps. Absent: what was refused, which is what a sandbox tried. */
  readonly flowLogs?: 'refused' | 'all';
  /** A VPC that is there already, for sandboxes alone, instead of one of our own; `cidr` and `zones` then count for nothing. */
  readonly existing?: ExistingNetwork;
};

export type Settings = {
  /** Names the stacks, the tasks (`startedBy`) and the task families: unique in an account and region. */
  readonly deployment: string;
  /** As an operator writes them; what is left out has the default of `shared/config/settings.ts`. */
  readonly variables: { readonly [K in Exclude<OperatorVariable, ProviderKey | `OIDC_${string}`>]?: string };
  readonly oidc?: Oidc;
  /** Complete ARNs of secrets in this account and region, each holding one key as its text. */
  readonly providerKeyArns: { readonly [K in ProviderKey]?: string };
  /**
   * Under whose key table, checkpoints, secrets and logs rest: AWS's own, which costs nothing, one that the data
   * stack makes, or one that is there already, in this account and region.
   */
  readonly encryption: 'aws-managed' | 'customer-managed' | { readonly keyArn: string };
  /** Another key for projects' secrets than `encryption` says, in this account and region. */
  readonly projectSecretsKeyArn?: string;
  readonly network: NetworkSettings;
  /**
   * Sizes that a sandbox may be started in, whatever a project says: no function has the right to start another.
   * Absent: all. Projects are told their own limits; this one is met as a start that failed.
   */
  readonly flavorsAllowed?: readonly Flavor[];
  /** What a template's image is built on instead of the Dockerfile's own: Debian with Node 24 and the packages of a team. */
  readonly templates?: { readonly [K in 'python' | 'node']?: { readonly baseImage: string } };
  /** Absent: CloudFront's own name and certificate. The certificate is in us-east-1. */
  readonly domain?: { readonly name: string; readonly certificateArn: string };
  /** A web firewall before CloudFront, in a stack of its own in us-east-1. */
  readonly firewall: boolean;
  /** A number of days that CloudWatch Logs knows. */
  readonly logDays: number;
  /** Whether this deployment sets the account's role for API Gateway logs: one deployment per region does. */
  readonly ownsApiLogRole: boolean;
  readonly alarmEmails: readonly string[];
  /** Where docs/runbook.md is read: alarms and dashboard link to its headings. Absent: its path in the repository. */
  readonly runbookUrl?: string;
  /** A topic that is there already and is told of alarms; absent: one of our own. */
  readonly alarmTopicArn?: string;
  readonly requestsPerSecondMax: number;
  readonly requestBurstMax: number;
  /** Runs at the same time that are kept for a function and are its limit; accounts whose whole quota must stay unreserved refuse any. */
  readonly reservedConcurrency: { readonly [F in FunctionName]?: number };
};

export const defaults: Settings = {
  deployment: 'sallyport',
  variables: {},
  providerKeyArns: {},
  encryption: 'aws-managed',
  network: { cidr: '10.77.0.0/16', zones: 1 },
  firewall: false,
  logDays: 30,
  ownsApiLogRole: true,
  alarmEmails: [],
  requestsPerSecondMax: 500,
  requestBurstMax: 1000,
  reservedConcurrency: {},
};

/** Chosen by `cdk deploy -c stage=<name>`. */
export const stages = {
  production: defaults,
  staging: { ...defaults, deployment: 'sallyport-staging', ownsApiLogRole: false },
  /** For those who pay for it: a zone may fail, every packet is on record, the key is theirs, a firewall stands in front. */
  hardened: {
    ...defaults,
    deployment: 'sallyport-hardened',
    encryption: 'customer-managed',
    network: { ...defaults.network, zones: 2, flowLogs: 'all' },
    firewall: true,
    logDays: 365,
    // The turn can not starve the others, nor they it; what is left of the usual 1000 is the account's.
    reservedConcurrency: { turn: 200, 'sandbox-link': 200, janitor: 10, 'task-events': 20 },
  },
} as const satisfies Record<string, Settings>;

export type StageName = keyof typeof stages;

export const settingsOf = (stage: string): Settings => {
  if (!Object.hasOwn(stages, stage))
    throw new Error(`there is no stage ${JSON.stringify(stage)}: one of ${Object.keys(stages).join(', ')}`);
  return stages[stage as StageName];
};

/** Stops the synth with the line the program itself would say. */
export const checkSettings = (settings: Settings): void => {
  const result = readVariables(operatorSettings, variablesOf(settings));
  if (!result.ok) throw new Error(`infra/settings.ts: ${result.problems.join('; ')}`);
  refuseDefaultFlavor(settings.flavorsAllowed, settings.variables.MSB_DEFAULT_FLAVOR);
};

/** What functions are told of the settings: variables of the operator, keys by their ARNs, and the issuer. */
export const variablesOf = ({ variables, providerKeyArns, oidc }: Settings): Variables => ({
  ...variables,
  ...providerKeyArns,
  ...(oidc && {
    OIDC_ISSUER: oidc.issuer,
    OIDC_AUDIENCE: oidc.audience,
    OIDC_SCOPE_CLAIM: oidc.scopeClaim,
    OIDC_DEFAULT_SCOPE: oidc.defaultScope,
  }),
});

/** Where sandboxes see the volume that those of one owner share; undefined without one. */
export const sharedGuestPathOf = ({ variables }: Settings): string | undefined => {
  const volume = readVariables(volumeSettings, variables);
  if (!volume.ok || volume.value.MSB_SHARED_VOLUME_PATH === undefined) return undefined;
  return volume.value.MSB_SHARED_VOLUME_GUEST_PATH;
};
