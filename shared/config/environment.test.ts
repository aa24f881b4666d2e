import { describe, expect, test } from 'vitest';
import { readEnvironment } from './environment.ts';

const authorizer = { TABLE_NAME: 'sallyport', ADMIN_TOKEN_SHA256: 'a'.repeat(64) };
const taskEvents = {
  TABLE_NAME: 'sallyport',
  CONNECTIONS_URL: 'https://api.example.com/ws',
  DEPLOYMENT: 'prod',
  SANDBOX_CLUSTER: 'sandboxes',
};
const turn = {
  ...taskEvents,
  TURN_FUNCTION: 'turn',
  SANDBOX_TASK_PYTHON: 'python',
  SANDBOX_TASK_NODE: 'node',
  SANDBOX_SUBNETS: 'subnet-1,subnet-2',
  SANDBOX_SECURITY_GROUP: 'sg-1',
  SANDBOX_LINK_FUNCTION: 'link',
  SANDBOX_SECRET: 's'.repeat(32),
};

test('a function gets its own variables, and none of the others', () => {
  expect(readEnvironment('authorizer', { ...authorizer, HOME: '/root', TURN_FUNCTION: 'turn' })).toEqual(
    authorizer,
  );
});

test('settings that are not set have their defaults', () => {
  expect(readEnvironment('turn', turn)).toEqual({
    ...turn,
    MAX_OUTPUT_TOKENS: 8192,
    MAX_HISTORY_TOKENS: 30_000,
    MAX_HISTORY_MESSAGES: 50,
    MAX_STEPS_PER_TURN: 50,
    HISTORY_TTL_SECONDS: 86_400,
    MAX_IDLE_TIME_MS: 900_000,
  });
});

describe('a function does not start', () => {
  test('without a variable, and one line names all that are missing', () => {
    expect(() => readEnvironment('authorizer', { ADMIN_TOKEN_SHA256: '' })).toThrow(
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
  ])('when %s is no hash, and what may be a token is not shown', (name, value) => {
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
  ])('with a bad %s', (name, value, allowed) => {
    expect(() => readEnvironment('task-events', { ...taskEvents, [name]: value })).toThrow(
      new Error(`task-events cannot start: ${name}="${value}" is not allowed: set it to ${allowed}`),
    );
  });

  test.each(['10.0.0.0', '10.0.0.0/33', '300.0.0.0/8', '::/0', 'x'])(
    'when %s is no address range',
    (range) => {
      expect(() => readEnvironment('sandbox-link', { SANDBOX_ADDRESS_RANGE: range })).toThrow(
        new Error(
          `sandbox-link cannot start: SANDBOX_ADDRESS_RANGE="${range}" is not allowed: set it to an IPv4 CIDR block`,
        ),
      );
    },
  );
});

test('the longest name of a deployment and the shortest secret are taken', () => {
  const deployment = 'd'.repeat(64);
  expect(readEnvironment('turn', { ...turn, DEPLOYMENT: deployment })).toMatchObject({
    DEPLOYMENT: deployment,
    SANDBOX_SECRET: 's'.repeat(32),
  });
});
