import { expect, test } from 'vitest';
import type { McpServer } from '#sdk/routes.ts';
import { adviceFor, byUrgency, plainError, statusWord, summaryOf } from './server-health.ts';

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
  ['the server answered 401', 'credentials'],
  ['10.0.0.1 is private, loopback or link-local', 'MCP_ALLOWED_PRIVATE_HOSTS'],
  ['connect ECONNREFUSED', 'Cannot connect'],
  ['it did not answer in time', 'did not respond in time'],
  ['a riddle', 'Check that it runs'],
])('%j comes with advice', (error, message) => {
  expect(adviceFor({ status: 'unhealthy', error })).toContain(message);
  expect(adviceFor({ status: 'disconnected', error })).toContain('Test it');
});

test('the text around an error is removed', () => {
  expect(plainError("MCP server 'a' is not available: it answered with HTTP 401")).toBe(
    'it answered with HTTP 401',
  );
  expect(plainError('no answer')).toBe('no answer');
});
