/** Groups of variables that several functions read, from which the environment of each is made (environment.ts). */
import * as z from 'zod';
import { group } from './group.ts';
import { oidcSettings } from './oidc-settings.ts';
import {
  egressSettings,
  lifetimeSettings,
  modelSettings,
  poolSettings,
  quotaSettings,
  sandboxSettings,
  senderSettings,
  turnSettings,
} from './settings.ts';

export const name = z.string().min(1).describe('a name');

/** The deployment's name: the dimension of its metrics, and `startedBy` of its tasks. Every function reads it. */
export const deployment = group(() => ({
  DEPLOYMENT: z
    .string()
    .regex(/^[a-zA-Z0-9_-]{1,64}$/)
    .describe('1 to 64 letters, digits, - and _'),
}));
export const table = group(() => ({ TABLE_NAME: name }));
/** The SHA-256 of the admin token, in hexadecimal: the token itself is never stored. */
export const access = group(() => ({
  ADMIN_TOKEN_SHA256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('64 hexadecimal digits'),
}));
/** Every function that receives credentials asks the issuer; an open socket asks only when they expire. */
export const credentials = group(() => ({ ...access.shape, ...oidcSettings.shape }));
/** The public address of the deployment: pages of its origin are our own. */
export const publicAddress = group(() => ({ PUBLIC_URL: senderSettings.shape.PUBLIC_URL }));
/** The @connections endpoint of the WebSocket API, with its stage. */
export const sockets = group(() => ({ CONNECTIONS_URL: z.url().describe('a URL') }));
export const turns = group(() => ({ TURN_FUNCTION: name }));
/** Every function that marks a sandbox invokes the janitor to save and stop it. */
export const janitor = group(() => ({ JANITOR_FUNCTION: name }));
export const seals = group(() => ({
  /** The key that signs the seals of the audit log: the ARN of a KMS key, or a file on one machine; absent: they are not signed. */
  AUDIT_SEAL_KEY: name.optional(),
  /** The bucket that locks them; absent: they are in that of the checkpoints, and not locked. */
  AUDIT_SEAL_BUCKET: name.optional(),
}));
/** Every function that changes a schedule invokes its dispatcher. */
export const schedules = group(() => ({ SCHEDULES_FUNCTION: name }));
/** Every function that writes a notice invokes the sender. */
export const webhooks = group(() => ({ WEBHOOKS_FUNCTION: name }));
/** Every function that passes frames of a terminal on starts its follower. */
export const terminals = group(() => ({ TERMINAL_FUNCTION: name }));
/** To send requests into sandboxes that run. */
export const link = group(() => ({
  SANDBOX_LINK_FUNCTION: name,
  /** Bearers of sandboxes are derived from it: the value, or the ARN of a secret that holds it. */
  SANDBOX_SECRET: z.string().min(32).describe('at least 32 characters, or the ARN of a secret'),
}));
/** Every function that uses a sandbox has its relay held. */
export const relays = group(() => ({ RELAY_FUNCTION: name }));
/** The port at which sandboxes are reached; absent: that of AWS. */
export const sandboxPort = group(() => ({
  SANDBOX_PORT: z.coerce.number().int().min(1).max(65_535).optional().describe('a port'),
}));
export const sandboxes = group(() => ({
  ...link.shape,
  ...sandboxPort.shape,
  SANDBOX_CLUSTER: name,
  SANDBOX_TASK_PYTHON: name,
  SANDBOX_TASK_NODE: name,
  /** The task definitions of SANDBOX_TEMPLATES: `name=task definition`, several with commas between. */
  SANDBOX_TEMPLATE_TASKS: name.optional(),
  /** Subnet ids with commas between. */
  SANDBOX_SUBNETS: name,
  SANDBOX_SECURITY_GROUP: name,
  /** The bucket of the checkpoints. */
  WORKSPACE_BUCKET: name,
  /**
   * The kind of volume that sandboxes of one owner share: stored in the bucket, or one mounted folder. Absent:
   * none.
   */
  SHARED_VOLUME: z.enum(['bucket', 'mounted']).optional().describe('bucket or mounted'),
  ...poolSettings.shape,
  ...relays.shape,
}));
/** The prefix of the names of projects' secrets in Secrets Manager. */
export const projectSecrets = group(() => ({ PROJECT_SECRETS_PREFIX: name }));
/** The limits of a turn that a decision may reach. */
export const decisions = group(() => ({
  MAX_STEPS_PER_TURN: turnSettings.shape.MAX_STEPS_PER_TURN,
  MAX_COST_USD: turnSettings.shape.MAX_COST_USD,
}));
/** The templates of the operator. */
export const templates = group(() => ({
  SANDBOX_TEMPLATES: sandboxSettings.shape.SANDBOX_TEMPLATES,
  /** The reason why no sandbox starts from them. Absent: they can. */
  TEMPLATES_PROBLEM: name.optional(),
}));
/** The defaults of a new session, and its lifetimes. */
export const sessions = group(() => ({
  ...templates.shape,
  ...modelSettings.shape,
  ...sandboxSettings.shape,
  ...lifetimeSettings.shape,
  ...quotaSettings.shape,
}));
/** The ceiling of the networks of projects. */
export const ceiling = group(() => ({ EGRESS_ALLOW: egressSettings.shape.EGRESS_ALLOW }));
