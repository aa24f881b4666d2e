import { expect, test } from 'vitest';
import { environments, type FunctionName } from './environment.ts';

const model = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH',
  'ANTHROPIC_AWS_WORKSPACE_ID',
  'ANTHROPIC_BASE_URL',
  'GEMINI_API_KEY',
  'GOOGLE_GEMINI_BASE_URL',
  'LLM_PROVIDER',
  'MODEL',
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
];
const sandboxes = [
  'DEPLOYMENT',
  'SANDBOX_CLUSTER',
  'SANDBOX_LINK_FUNCTION',
  'SANDBOX_SECRET',
  'SANDBOX_SECURITY_GROUP',
  'SANDBOX_SUBNETS',
  'SANDBOX_TASK_NODE',
  'SANDBOX_TASK_PYTHON',
  'SHARED_VOLUME',
  'WORKSPACE_BUCKET',
  'POOL_SIZE',
];
const lifetimes = ['HISTORY_TTL_SECONDS', 'MAX_IDLE_TIME_MS', 'MSB_SESSION_TIMEOUT_SECONDS'];
const decisions = ['MAX_COST_USD', 'MAX_STEPS_PER_TURN'];
const turnSettings = [
  'ENABLE_CONVERSATION_COMPRESSION',
  'MAX_HISTORY_MESSAGES',
  'MAX_HISTORY_TOKENS',
  'MAX_OUTPUT_TOKENS',
  'MODEL_PRICES',
  'TURN_LEASE_SECONDS',
];
const choices = ['MSB_DEFAULT_FLAVOR', 'MSB_DEFAULT_TEMPLATE'];
const oidc = ['OIDC_AUDIENCE', 'OIDC_DEFAULT_SCOPE', 'OIDC_ISSUER', 'OIDC_SCOPE_CLAIM'];
const rates = ['RATE_LIMIT_BURST', 'RATE_LIMIT_PER_SECOND'];

const variables: Record<FunctionName, readonly string[]> = {
  authorizer: ['ADMIN_TOKEN_SHA256', 'TABLE_NAME', ...oidc],
  socket: [
    'ADMIN_TOKEN_SHA256',
    'CONNECTIONS_URL',
    'GREETER_FUNCTION',
    'JANITOR_FUNCTION',
    'MSB_MAX_SESSIONS',
    'TABLE_NAME',
    'TURN_FUNCTION',
    ...model,
    ...decisions,
    ...rates,
    ...choices,
    ...lifetimes,
  ],
  greeter: ['CONNECTIONS_URL', 'TABLE_NAME', ...model],
  turn: [
    'CONNECTIONS_URL',
    'JANITOR_FUNCTION',
    'TABLE_NAME',
    'TURN_FUNCTION',
    ...model,
    ...sandboxes,
    ...decisions,
    'MCP_ALLOWED_PRIVATE_HOSTS',
    'MCP_CHECK_SECONDS',
    'PROJECT_SECRETS_PREFIX',
    ...turnSettings,
    ...lifetimes,
  ],
  'sandbox-link': ['SANDBOX_ADDRESS_RANGE', 'WORKSPACE_BUCKET'],
  'task-events': ['CONNECTIONS_URL', 'DEPLOYMENT', 'JANITOR_FUNCTION', 'TABLE_NAME'],
  janitor: [
    'MCP_ALLOWED_PRIVATE_HOSTS',
    'MCP_CHECK_SECONDS',
    'MSB_MAX_SESSIONS',
    'PROJECT_SECRETS_PREFIX',
    'CONNECTIONS_URL',
    'TABLE_NAME',
    'TURN_FUNCTION',
    ...sandboxes,
    ...choices,
    ...lifetimes,
  ],
  schedules: [
    'ADMIN_TOKEN_SHA256',
    'CONNECTIONS_URL',
    'JANITOR_FUNCTION',
    'MSB_MAX_SESSIONS',
    'SCHEDULE_DEAD_LETTERS',
    'SCHEDULE_GROUP',
    'SCHEDULE_ROLE',
    'SCHEDULE_TARGET',
    'TABLE_NAME',
    'TURN_FUNCTION',
    ...model,
    ...choices,
    ...lifetimes,
  ],
  api: [
    'SCHEDULES_FUNCTION',
    'ADMIN_TOKEN_SHA256',
    'CONNECTIONS_URL',
    'JANITOR_FUNCTION',
    'MSB_MAX_SESSIONS',
    'MCP_ALLOWED_PRIVATE_HOSTS',
    'MCP_CHECK_SECONDS',
    'PROJECT_SECRETS_KEY',
    'PROJECT_SECRETS_PREFIX',
    'SANDBOX_LIMITS',
    'TABLE_NAME',
    'TURN_FUNCTION',
    ...model,
    ...decisions,
    ...sandboxes,
    ...oidc,
    ...rates,
    ...choices,
    ...lifetimes,
  ],
  mcp: [
    'SCHEDULES_FUNCTION',
    'ADMIN_TOKEN_SHA256',
    'CONNECTIONS_URL',
    'JANITOR_FUNCTION',
    'MAX_AGENTS_PER_SESSION',
    'MAX_RECURSION_DEPTH',
    'MSB_MAX_SESSIONS',
    'MSB_SHARED_VOLUME_GUEST_PATH',
    'MSB_SHARED_VOLUME_PATH',
    'TABLE_NAME',
    'TURN_FUNCTION',
    ...model,
    ...sandboxes,
    ...decisions,
    ...oidc,
    ...rates,
    ...choices,
    ...lifetimes,
  ],
};

test('each function reads these variables', () => {
  const declared = Object.entries(environments).map(([name, schema]) => [
    name,
    Object.keys(schema.shape).sort(),
  ]);
  const expected = Object.entries(variables).map(([name, keys]) => [name, [...keys].sort()]);
  expect(Object.fromEntries(declared)).toEqual(Object.fromEntries(expected));
});
