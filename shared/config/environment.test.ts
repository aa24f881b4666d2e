import { describe, expect, test } from 'vitest';
import { readEnvironment } from './environment.ts';
import { lifetimesOf, sessionDefaultsOf, slotLimitsOf } from './environment-values.ts';

const authorizer = { DEPLOYMENT: 'prod', TABLE_NAME: 'sallyport', ADMIN_TOKEN_SHA256: 'a'.repeat(64) };
const taskEvents = {
  TABLE_NAME: 'sallyport',
  CONNECTIONS_URL: 'https://api.example.com/ws',
  DEPLOYMENT: 'prod',
  JANITOR_FUNCTION: 'janitor',
  WEBHOOKS_FUNCTION: 'webhooks',
};
const link = { DEPLOYMENT: 'prod', SANDBOX_ADDRESS_RANGE: '10.0.0.0/16', WORKSPACE_BUCKET: 'workspaces' };
const turn = {
  ...taskEvents,
  TURN_FUNCTION: 'turn',
  SANDBOX_CLUSTER: 'sandboxes',
  RELAY_FUNCTION: 'relay',
  WORKSPACE_BUCKET: 'workspaces',
  SANDBOX_TASK_PYTHON: 'python',
  SANDBOX_TASK_NODE: 'node',
  SANDBOX_SUBNETS: 'subnet-1,subnet-2',
  SANDBOX_SECURITY_GROUP: 'sg-1',
  SANDBOX_LINK_FUNCTION: 'link',
  SANDBOX_SECRET: 's'.repeat(32),
  PROJECT_SECRETS_PREFIX: 'sallyport/prod/',
};
const door = { ...turn, ...authorizer, SCHEDULES_FUNCTION: 'schedules' };

test('a function gets its own variables, and none of the others', () => {
  expect(readEnvironment('authorizer', { ...authorizer, HOME: '/root', TURN_FUNCTION: 'turn' })).toEqual({
    ...authorizer,
    OIDC_SCOPE_CLAIM: 'sallyport_scope',
  });
});

test('settings that are not set have their defaults', () => {
  expect(readEnvironment('turn', turn)).toEqual({
    ...turn,
    MAX_OUTPUT_TOKENS: 8192,
    MCP_ALLOWED_PRIVATE_HOSTS: [],
    MCP_CHECK_SECONDS: 60,
    MAX_HISTORY_TOKENS: 30_000,
    MAX_HISTORY_MESSAGES: 50,
    MAX_STEPS_PER_TURN: 50,
    MAX_RECURSION_DEPTH: 3,
    MAX_AGENTS_PER_SESSION: 50,
    MAX_COST_USD: 10,
    TURN_LEASE_SECONDS: 30,
    MAX_TOOL_SECONDS: 3600,
    TOOL_WAIT_SECONDS: 300,
    ENABLE_CONVERSATION_COMPRESSION: false,
    ANTHROPIC_AUTH: 'key',
    OPENAI_API: 'responses',
    HISTORY_TTL_SECONDS: 86_400,
    PAUSED_TTL_SECONDS: 604_800,
    WAIT_STOP_SECONDS: 120,
    MAX_IDLE_TIME_MS: 900_000,
    MSB_SESSION_TIMEOUT_SECONDS: 1800,
    MSB_MAX_SESSIONS: 10,
    MAX_AGENT_SLOTS: 10,
    MAX_CONVERSATIONS: 10_000,
    MSB_EVICT_IDLE: true,
    POOL_SIZE: 0,
  });
});

describe('a function does not start', () => {
  test('without a variable, and one line names all that are missing', () => {
    expect(() => readEnvironment('authorizer', { DEPLOYMENT: 'prod', ADMIN_TOKEN_SHA256: '' })).toThrow(
      new Error(
        'authorizer cannot start: TABLE_NAME is required: set it to a name; ADMIN_TOKEN_SHA256 is required: set it to 64 hexadecimal digits',
      ),
    );
  });

  test.each([
    ['ADMIN_TOKEN_SHA256', `sp_${'a'.repeat(64)}`],
    ['ADMIN_TOKEN_SHA256', 'A'.repeat(64)],
    ['ADMIN_TOKEN_SHA256', 'a'.repeat(63)],
    ['ADMIN_TOKEN_SHA256', 'a'.repeat(65)],
  ])('when %s is not a hash, and a possible token is not shown', (name, value) => {
    expect(() => readEnvironment('authorizer', { ...authorizer, [name]: value })).toThrow(
      new Error(
        'authorizer cannot start: ADMIN_TOKEN_SHA256=(hidden) is not allowed: set it to 64 hexadecimal digits',
      ),
    );
  });

  test('when the secret of its sandboxes is short, and the secret is not shown', () => {
    expect(() => readEnvironment('turn', { ...turn, SANDBOX_SECRET: 's'.repeat(31) })).toThrow(
      new Error(
        'turn cannot start: SANDBOX_SECRET=(hidden) is not allowed: set it to at least 32 characters, or the ARN of a secret',
      ),
    );
  });

  test.each([
    ['CONNECTIONS_URL', 'not a url', 'a URL'],
    ['DEPLOYMENT', 'a b', '1 to 64 letters, digits, - and _'],
    ['DEPLOYMENT', 'd'.repeat(65), '1 to 64 letters, digits, - and _'],
  ])('with an invalid %s', (name, value, allowed) => {
    expect(() => readEnvironment('task-events', { ...taskEvents, [name]: value })).toThrow(
      new Error(`task-events cannot start: ${name}="${value}" is not allowed: set it to ${allowed}`),
    );
  });

  test.each(['10.0.0.0', '10.0.0.0/33', '300.0.0.0/8', '::/0', 'x'])(
    'when %s is not an address range',
    (range) => {
      expect(() => readEnvironment('sandbox-link', { ...link, SANDBOX_ADDRESS_RANGE: range })).toThrow(
        new Error(
          `sandbox-link cannot start: SANDBOX_ADDRESS_RANGE="${range}" is not allowed: set it to an IPv4 CIDR block`,
        ),
      );
    },
  );
});

test('a function that authenticates does not start with half an issuer', () => {
  for (const name of ['authorizer', 'api', 'mcp'] as const)
    expect(() => readEnvironment(name, { ...door, OIDC_ISSUER: 'https://id.example.com' })).toThrow(
      new Error(
        `${name} cannot start: OIDC_AUDIENCE is required with OIDC_ISSUER: set it to a text of 1 to 2048 characters`,
      ),
    );
});

test('the longest name of a deployment and the shortest secret are accepted', () => {
  const deployment = 'd'.repeat(64);
  expect(readEnvironment('turn', { ...turn, DEPLOYMENT: deployment })).toMatchObject({
    DEPLOYMENT: deployment,
    SANDBOX_SECRET: 's'.repeat(32),
  });
});

test('sandbox limits are enforced unless they are declared best effort', () => {
  const limitsOf = (variables: typeof door & { SANDBOX_LIMITS?: string }) =>
    readEnvironment('api', variables).SANDBOX_LIMITS;
  expect(limitsOf(door)).toBe('enforced');
  expect(limitsOf({ ...door, SANDBOX_LIMITS: 'best effort' })).toBe('best effort');
  expect(() => limitsOf({ ...door, SANDBOX_LIMITS: 'none' })).toThrow(
    new Error('api cannot start: SANDBOX_LIMITS="none" is not allowed: set it to enforced or best effort'),
  );
});

test('an address range is accepted', () => {
  expect(readEnvironment('sandbox-link', link)).toEqual(link);
});

test('lifetimes are milliseconds', () => {
  const variables = {
    MAX_IDLE_TIME_MS: 5000,
    MSB_SESSION_TIMEOUT_SECONDS: 60,
    HISTORY_TTL_SECONDS: 120,
    PAUSED_TTL_SECONDS: 604_800,
    WAIT_STOP_SECONDS: 120,
  };
  expect(lifetimesOf(variables)).toEqual({
    idleMs: 5000,
    executionIdleMs: 60_000,
    historyMs: 120_000,
    pausedMs: 604_800_000,
    waitStopMs: 120_000,
  });
});

test('the limits of slots are those of the operator', () => {
  const set = {
    MSB_MAX_SESSIONS: '3',
    MAX_AGENT_SLOTS: '4',
    MAX_CONVERSATIONS: '5',
    MSB_EVICT_IDLE: 'false',
  };
  const { slotLimits, lifetimes } = slotLimitsOf(readEnvironment('api', { ...door, ...set }));
  expect(slotLimits).toEqual({ executionMax: 3, agentMax: 4, conversationsMax: 5, evictsIdle: false });
  expect(lifetimes.pausedMs).toBe(604_800_000);
});

describe('a session is created', () => {
  const made = (variables: object) => sessionDefaultsOf(readEnvironment('api', { ...door, ...variables }));

  test('with the defaults of the deployment', () => {
    expect(made({})).toEqual({
      flavor: 'small',
      template: 'python',
      templates: { named: [], problem: undefined },
      lifetimes: {
        idleMs: 900_000,
        executionIdleMs: 1_800_000,
        historyMs: 86_400_000,
        pausedMs: 604_800_000,
        waitStopMs: 120_000,
      },
    });
  });

  test('with the operator’s settings', () => {
    const set = {
      MSB_DEFAULT_FLAVOR: 'large',
      MSB_DEFAULT_TEMPLATE: 'node',
      MODEL: 'm',
      MAX_IDLE_TIME_MS: '1000',
      SANDBOX_TEMPLATES: '[{"name": "science", "image": "example.org/science:7"}]',
      TEMPLATES_PROBLEM: 'no engine answers',
    };
    expect(made(set)).toEqual({
      flavor: 'large',
      template: 'node',
      templates: {
        named: [{ name: 'science', image: 'example.org/science:7' }],
        problem: 'no engine answers',
      },
      model: 'm',
      lifetimes: {
        idleMs: 1000,
        executionIdleMs: 1_800_000,
        historyMs: 86_400_000,
        pausedMs: 604_800_000,
        waitStopMs: 120_000,
      },
    });
  });
});
