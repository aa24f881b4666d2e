/**
 * The operator's settings: each variable's bounds, its default, and the text that says what is allowed.
 *
 * The same keys stand in the environment of the Lambda functions and of the local program. An empty value counts
 * as unset. A bad one is refused with one line that names variable, value and what is allowed.
 */
import * as z from 'zod';
import { parseHostPattern } from '../domain/egress-policy.ts';
import { answerTokensDefault, decodePrices } from '../domain/price.ts';
import { decodeTemplates, languages, templateNamePattern } from '../domain/template.ts';
import { group } from './group.ts';
import { clientSettings, loginSettings, oidcSettings } from './oidc-settings.ts';

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^-?\d+$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max)
    .describe(`a whole number from ${min} to ${max}`);

const amount = (min: number, max: number) =>
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max)
    .describe(`a number from ${min} to ${max}`);

const flag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .describe('true or false');

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values).describe(`one of ${values.join(', ')}`);

const text = z.string().min(1).max(2048).describe('a text of 1 to 2048 characters');

const address = z
  .string()
  .max(2048)
  .refine((value) => /^https?:\/\/[^\s?#]+$/.test(value) && URL.canParse(value))
  .describe('an http or https URL without query and fragment');

const region = z
  .string()
  .regex(/^[a-z]{2}(-[a-z]+)+-\d$/)
  .describe('a region such as eu-central-1');

/** Lower-cased before it is compared, so that `SMALL` is `small`. */
const flavor = z.preprocess(
  (value) => (typeof value === 'string' ? value.toLowerCase() : value),
  oneOf(['micro', 'small', 'medium', 'large']),
);

/** Checked by the code that uses them: a table that passes here is one that every function takes. */
const prices = z
  .string()
  .refine((text) => decodePrices(text).ok)
  .describe(
    'JSON such as {"openai/gpt-6": {"input": 1, "output": 2.5}}, dollars per million tokens from 0 to 10000',
  );

/** Read once: a text that passes is the list. */
const templates = z
  .string()
  .transform((text, { issues }) => {
    const decoded = decodeTemplates(text);
    if (decoded.ok) return decoded.templates;
    issues.push({ code: 'custom', message: decoded.problem, input: text });
    return z.NEVER;
  })
  .describe(
    'a JSON list of 1 to 10 {"name", "dockerfile" or "image", "description"?} such as [{"name": "science", "image": "example.org/science:7"}], names of small letters, digits and -, up to 1500 characters',
  );

/** That it names one is seen beside the list. */
const templateName = z
  .string()
  .regex(templateNamePattern)
  .describe(`one of ${languages.join(', ')}, or a name of SANDBOX_TEMPLATES`);

export const modelSettings = group(() => ({
  LLM_PROVIDER: oneOf([
    'anthropic',
    'claude',
    'openai',
    'chatgpt',
    'gemini',
    'google',
    'bedrock',
    'demo',
  ]).optional(),
  ANTHROPIC_API_KEY: text.optional(),
  /** `iam`: requests are signed with the function's own role, and there is no key. */
  ANTHROPIC_AUTH: oneOf(['key', 'iam']).default('key'),
  ANTHROPIC_AWS_WORKSPACE_ID: text.optional(),
  ANTHROPIC_BASE_URL: address.optional(),
  OPENAI_API_KEY: text.optional(),
  OPENAI_BASE_URL: address.optional(),
  /** The wire that the server at that address speaks. */
  OPENAI_API: oneOf(['responses', 'chat']).default('responses'),
  GEMINI_API_KEY: text.optional(),
  GOOGLE_GEMINI_BASE_URL: address.optional(),
  /** Absent: the region of the functions. */
  BEDROCK_REGION: region.optional(),
  BEDROCK_BASE_URL: address.optional(),
  MODEL: text.optional(),
}));

/** Requests that are signed need the workspace that they are for. */
export const signedCompanion = ['ANTHROPIC_AUTH', 'iam', 'ANTHROPIC_AWS_WORKSPACE_ID'] as const;

export const turnSettings = group(() => ({
  MAX_OUTPUT_TOKENS: integer(256, 65_536).default(answerTokensDefault),
  MAX_HISTORY_TOKENS: integer(1, 1_000_000).default(30_000),
  MAX_HISTORY_MESSAGES: integer(1, 1000).default(50),
  MAX_STEPS_PER_TURN: integer(1, 500).default(50),
  MAX_COST_USD: amount(0, 100_000).default(10),
  /** The silence after which another holder takes over a turn. */
  TURN_LEASE_SECONDS: integer(3, 300).default(30),
  /** The longest run of one tool; none takes longer than an hour. */
  MAX_TOOL_SECONDS: integer(1, 86_400).default(3600),
  /** A call in a sandbox that takes longer runs on while no function waits for it. */
  TOOL_WAIT_SECONDS: integer(1, 3600).default(300),
  /** Prices of models as JSON; they come before the known ones. */
  MODEL_PRICES: prices.optional(),
}));

/** The limits of trees of agents: how deep, and how many in one tree. */
export const treeSettings = group(() => ({
  MAX_RECURSION_DEPTH: integer(0, 10).default(3),
  MAX_AGENTS_PER_SESSION: integer(1, 1000).default(50),
}));

export const historySettings = group(() => ({ ENABLE_CONVERSATION_COMPRESSION: flag.default(false) }));

export const lifetimeSettings = group(() => ({
  MAX_IDLE_TIME_MS: integer(1000, 86_400_000).default(900_000),
  MSB_SESSION_TIMEOUT_SECONDS: integer(60, 86_400).default(1800),
  HISTORY_TTL_SECONDS: integer(1, 31_536_000).default(86_400),
  PAUSED_TTL_SECONDS: integer(1, 31_536_000).default(604_800),
  WAIT_STOP_SECONDS: integer(1, 86_400).default(120),
}));

export const sandboxSettings = group(() => ({
  MSB_DEFAULT_FLAVOR: flavor.default('small'),
  MSB_DEFAULT_TEMPLATE: templateName.default('python'),
  /** Templates besides the platform's own. */
  SANDBOX_TEMPLATES: templates.optional(),
}));

export const quotaSettings = group(() => ({
  MSB_MAX_SESSIONS: integer(1, 100).default(10),
  MAX_AGENT_SLOTS: integer(1, 1000).default(10),
  MAX_CONVERSATIONS: integer(1, 1_000_000).default(10_000),
  MSB_EVICT_IDLE: flag.default(true),
}));

/** Of one project. */
export const snapshotSettings = group(() => ({ MAX_SNAPSHOTS: integer(1, 1000).default(100) }));

export const rateSettings = group(() => ({
  RATE_LIMIT_PER_SECOND: integer(1, 10_000).default(10),
  RATE_LIMIT_BURST: integer(1, 20_000).default(20),
}));

export const poolSettings = group(() => ({ POOL_SIZE: integer(0, 100).default(0) }));

const hostPattern = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::([0-9]{1,5}))?$/;
const isHost = (entry: string): boolean => {
  const port = Number(hostPattern.exec(entry)?.[1] ?? 1);
  return hostPattern.test(entry) && port >= 1 && port <= 65_535;
};

/** `host` or `host:port` that registered MCP servers may have although its address is private. */
export const mcpSettings = group(() => ({
  MCP_ALLOWED_PRIVATE_HOSTS: z
    .string()
    .max(2048)
    .transform((value) => value.split(',').map((entry) => entry.trim()))
    .refine((entries) => entries.every(isHost))
    .describe('one or more host or host:port, separated by commas')
    .default([]),
  /** The interval at which a healthy one is checked. */
  MCP_CHECK_SECONDS: integer(1, 3600).default(60),
}));

/** The hosts that sandboxes may reach at most, and how long the relay is held for them. */
export const egressSettings = group(() => ({
  /** The ceiling of what projects may allow: any host, or hosts as in their lists; absent: no sandbox has a network. */
  EGRESS_ALLOW: z
    .string()
    .max(16_384)
    .transform((value) =>
      value === '*' ? ('any host' as const) : value.split(',').map((entry) => entry.trim()),
    )
    .refine((hosts) => hosts === 'any host' || hosts.every((host) => parseHostPattern(host) !== undefined))
    .describe(
      'one or more host or *.host, each with or without :port, separated by commas; or * for any host',
    )
    .optional(),
  /** `host` or `host:port` that sandboxes may reach although its address is private. */
  EGRESS_ALLOWED_PRIVATE_HOSTS: mcpSettings.shape.MCP_ALLOWED_PRIVATE_HOSTS,
  /** Megabytes that one session may exchange with hosts outside, both ways together. */
  MAX_EGRESS_MB: integer(1, 1_000_000).default(10_000),
  /** The relay is held for so long after the last byte, when nothing else needs it. */
  RELAY_IDLE_SECONDS: integer(1, 3600).default(30),
}));

/** The destinations of webhooks, and the address in their bodies. */
export const webhookSettings = group(() => ({
  /** `host` or `host:port` that receivers may have although their address is private. */
  WEBHOOK_ALLOWED_PRIVATE_HOSTS: mcpSettings.shape.MCP_ALLOWED_PRIVATE_HOSTS,
}));
export const senderSettings = group(() => ({
  /** The pause before the second attempt; every further one is twice as long. */
  WEBHOOK_RETRY_SECONDS: integer(1, 60).default(5),
  /** The address of the deployment for people; absent: the address it is served at. */
  PUBLIC_URL: address.optional(),
}));

/** A folder that every sandbox of the deployment shares; on one machine it must exist. */
export const volumeSettings = group(() => ({
  MSB_SHARED_VOLUME_PATH: text.optional(),
  MSB_SHARED_VOLUME_GUEST_PATH: z
    .string()
    .regex(/^\/[A-Za-z0-9._/-]{1,255}$/)
    .describe('an absolute path of letters, digits, . _ - and /')
    .default('/shared'),
}));

/** True when the synthetic check runs on its schedule; on one machine only if it is set. */
export const checkSettings = group(() => ({ SYNTHETIC_CHECK: flag.default(true) }));

/** All settings of an operator. */
export const operatorSettings = group(() => ({
  ...modelSettings.shape,
  ...turnSettings.shape,
  ...treeSettings.shape,
  ...historySettings.shape,
  ...lifetimeSettings.shape,
  ...sandboxSettings.shape,
  ...quotaSettings.shape,
  ...snapshotSettings.shape,
  ...rateSettings.shape,
  ...oidcSettings.shape,
  ...loginSettings.shape,
  ...clientSettings.shape,
  ...poolSettings.shape,
  ...volumeSettings.shape,
  ...mcpSettings.shape,
  ...egressSettings.shape,
  ...webhookSettings.shape,
  ...senderSettings.shape,
  ...checkSettings.shape,
}));

/** The further settings of `npm start`. */
export const localSettings = group(() => ({
  PORT: integer(0, 65_535).default(4350),
  SALLYPORT_HOME: text.optional(),
  /** The interval at which the janitor sweeps on this machine. */
  SALLYPORT_SWEEP_SECONDS: integer(1, 3600).default(60),
  /** True: a start as root installs missing packages for work in sandboxes, from Debian. */
  SALLYPORT_INSTALL_PACKAGES: flag.default(true),
  SALLYPORT_TOKEN: z
    .string()
    .regex(/^sp_[0-9a-f]{64}$/)
    .describe('sp_ and 64 hexadecimal digits in lower case')
    .optional(),
  ...operatorSettings.shape,
}));

export const providerKeys = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY'] as const;
