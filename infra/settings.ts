/**
 * What differs between deployments: one record each, and the code reads nothing else.
 *
 * No secret stands here. Keys of model providers are named by the ARN of a secret; the hash of the admin
 * token is a parameter of the compute stack, given at the first deploy.
 */
import { type operatorSettings, readVariables, volumeSettings } from '#shared/config/settings.ts';

type ProviderKey = 'ANTHROPIC_API_KEY' | 'OPENAI_API_KEY' | 'GEMINI_API_KEY';
type OperatorVariable = keyof (typeof operatorSettings)['shape'];

export type Settings = {
  /** Names the stacks, the tasks (`startedBy`) and the task families: unique in an account and region. */
  readonly deployment: string;
  /** As an operator writes them; what is left out has the default of `shared/config/settings.ts`. */
  readonly variables: { readonly [K in Exclude<OperatorVariable, ProviderKey>]?: string };
  /** Complete ARNs of secrets in this account and region, each holding one key as its text. */
  readonly providerKeyArns: { readonly [K in ProviderKey]?: string };
  /** The key under which projects' secrets are encrypted, in this account and region; absent: the one AWS manages, which costs nothing. */
  readonly projectSecretsKeyArn?: string;
  readonly network: {
    /** The sandboxes' own address range: nothing routes to it from outside. */
    readonly cidr: string;
    /** Each zone costs two interface endpoints. */
    readonly zones: number;
  };
  /** Absent: CloudFront's own name and certificate. The certificate is in us-east-1. */
  readonly domain?: { readonly name: string; readonly certificateArn: string };
  /** Whether this deployment sets the account's role for API Gateway logs: one deployment per region does. */
  readonly ownsApiLogRole: boolean;
  readonly alarmEmails: readonly string[];
  readonly requestsPerSecondMax: number;
  readonly requestBurstMax: number;
  /** Reserved for the turn function; absent on accounts whose whole quota must stay unreserved. */
  readonly turnConcurrencyMax?: number;
};

const production: Settings = {
  deployment: 'sallyport',
  variables: {},
  providerKeyArns: {},
  network: { cidr: '10.77.0.0/16', zones: 1 },
  ownsApiLogRole: true,
  alarmEmails: [],
  requestsPerSecondMax: 500,
  requestBurstMax: 1000,
};

/** Chosen by `cdk deploy -c stage=<name>`. */
export const stages = {
  production,
  staging: { ...production, deployment: 'sallyport-staging', ownsApiLogRole: false },
} as const satisfies Record<string, Settings>;

export type StageName = keyof typeof stages;

export const settingsOf = (stage: string): Settings => {
  if (!Object.hasOwn(stages, stage))
    throw new Error(`there is no stage ${JSON.stringify(stage)}: one of ${Object.keys(stages).join(', ')}`);
  return stages[stage as StageName];
};

/** Where sandboxes see the volume that those of one owner share; undefined without one. */
export const sharedGuestPathOf = ({ variables }: Settings): string | undefined => {
  const volume = readVariables(volumeSettings, variables);
  if (!volume.ok || volume.value.MSB_SHARED_VOLUME_PATH === undefined) return undefined;
  return volume.value.MSB_SHARED_VOLUME_GUEST_PATH;
};
