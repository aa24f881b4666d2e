import { expect, test } from 'vitest';
import type { McpServer } from '#sdk/routes.ts';
import { adviceFor, adviceOn, byUrgency, plainError, statusWord, summaryOf } from './server-health.ts';

const server = (name: string, status: McpServer['status'], more: Partial<McpServer> = {}): McpServer => ({
  name,
  enabled: status !== 'disabled',
  status,
  config: { transport: 'http' },
  tools: [],
  consecutiveFailures: 0,
  createdAt: '2026-01-01T00:00:00.000Z',
  lastCheck: '2026-01-01T00:00:00.000Z',
  ...more,
});
const { lastCheck: _, ...unseen } = server('new', 'reconnecting');
const all = [
  server('b', 'healthy'),
  server('off', 'disabled'),
  server('a', 'healthy'),
  server('ill', 'unhealthy'),
  unseen,
];

test('a disabled or unchecked server is no issue', () => {
  expect(summaryOf(all)).toEqual({ total: 5, healthy: 2, issues: 1, disabled: 1 });
  expect(statusWord(unseen)).toBe('not checked yet');
});

test('servers with issues come first, disabled ones last', () => {
  expect(byUrgency(all).map(({ name }) => name)).toEqual(['ill', 'new', 'a', 'b', 'off']);
});

test.each([
  ['the secret TOKEN is not there', 'Add the secret'],
  ['it answered: Unauthorized', 'credentials'],
  ['10.0.0.1 is private, loopback or link-local', 'MCP_ALLOWED_PRIVATE_HOSTS'],
  ['connect ECONNREFUSED', 'Cannot connect'],
  ['it did not answer in time', 'did not respond in time'],
  ['a riddle', 'Check that it runs'],
])('%j comes with advice', (error, message) => {
  const failed = { error, config: { transport: 'http' as const } };
  expect(adviceFor({ status: 'unhealthy', ...failed })).toContain(message);
  expect(adviceFor({ status: 'disconnected', ...failed })).toContain('Test it');
});

const plain = { transport: 'http' as const };
const withHeader = { ...plain, headers: { Authorization: '***' } };

test.each([
  [
    '401 without a header',
    { httpStatus: 401, config: plain },
    'A sign-in to the server (OAuth) is not supported',
  ],
  ['403 without a header', { httpStatus: 403, config: plain }, 'Add the header Authorization'],
  ['401 with one', { httpStatus: 401, config: withHeader }, 'The server rejected the credentials'],
  [
    '401 with a secret in it',
    { httpStatus: 401, config: { ...plain, headers: { Authorization: 'Bearer $' + '{KEY}' } } },
    'give the secret KEY of the project a new value',
  ],
  ['404', { httpStatus: 404, config: withHeader }, 'No MCP endpoint at this URL'],
])('HTTP %s comes with advice, whatever the words of the error', (_title, failed, advice) => {
  expect(adviceOn({ error: 'in other words', ...failed })).toContain(advice);
});

test('the text around an error is removed', () => {
  expect(plainError("MCP server 'a' is not available: it answered with HTTP 401")).toBe(
    'it answered with HTTP 401',
  );
  expect(plainError('no answer')).toBe('no answer');
});
