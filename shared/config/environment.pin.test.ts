import { expect, test } from 'vitest';
import { environments, type FunctionName } from './environment.ts';

const model = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_BASE_URL',
  'GEMINI_API_KEY',
  'LLM_PROVIDER',
  'MODEL',
  'OPENAI_API_KEY',
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
];
const turnBounds = [
  'HISTORY_TTL_SECONDS',
  'MAX_HISTORY_MESSAGES',
  'MAX_HISTORY_TOKENS',
  'MAX_OUTPUT_TOKENS',
  'MAX_STEPS_PER_TURN',
];
const choices = ['MSB_DEFAULT_FLAVOR', 'MSB_DEFAULT_TEMPLATE'];

const variables: Record<FunctionName, readonly string[]> = {
  authorizer: ['ADMIN_TOKEN_SHA256', 'TABLE_NAME'],
  socket: [
    'ADMIN_TOKEN_SHA256',
    'CONNECTIONS_URL',
    'DEPLOYMENT',
    'GREETER_FUNCTION',
    'MAX_IDLE_TIME_MS',
    'MAX_STEPS_PER_TURN',
    'SANDBOX_CLUSTER',
    'TABLE_NAME',
    'TURN_FUNCTION',
    ...model,
    ...choices,
  ],
  greeter: ['CONNECTIONS_URL', 'TABLE_NAME', ...model],
  turn: [
    'CONNECTIONS_URL',
    'MAX_IDLE_TIME_MS',
    'TABLE_NAME',
    'TURN_FUNCTION',
    ...model,
    ...sandboxes,
    ...turnBounds,
  ],
  'sandbox-link': ['SANDBOX_ADDRESS_RANGE'],
  'task-events': ['CONNECTIONS_URL', 'DEPLOYMENT', 'SANDBOX_CLUSTER', 'TABLE_NAME'],
  janitor: [
    'CONNECTIONS_URL',
    'DEPLOYMENT',
    'MAX_IDLE_TIME_MS',
    'SANDBOX_CLUSTER',
    'TABLE_NAME',
    'TURN_FUNCTION',
  ],
  api: [
    'ADMIN_TOKEN_SHA256',
    'CONNECTIONS_URL',
    'MAX_IDLE_TIME_MS',
    'MAX_STEPS_PER_TURN',
    'TABLE_NAME',
    'TURN_FUNCTION',
    ...model,
    ...sandboxes,
    ...choices,
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
