import { expect, test } from 'vitest';
import { changeOf, configOf, draftOf, emptyDraft, fieldOf, maskProblem } from './server-draft.ts';

const secret = `$\{TOKEN}`;
const remote = {
  ...emptyDraft,
  name: 'a',
  url: ' https://a/mcp ',
  headers: [
    { name: 'Authorization', value: `Bearer ${secret}` },
    { name: '', value: '' },
  ],
  timeoutSeconds: '1.5',
};

test('a new server is sent with the given fields, and none of another transport', () => {
  expect(configOf({ ...remote, command: 'left over' })).toEqual({
    transport: 'http',
    url: 'https://a/mcp',
    headers: { Authorization: `Bearer ${secret}` },
    timeout: 1500,
  });
  expect(configOf({ ...emptyDraft, transport: 'stdio', command: 'npx', args: '-y\nsome thing\n' })).toEqual({
    transport: 'stdio',
    command: 'npx',
    args: ['-y', 'some thing'],
  });
});

const shown = draftOf({
  name: 'a',
  enabled: true,
  status: 'healthy',
  config: {
    transport: 'http',
    url: 'https://a/',
    headers: { Authorization: '***' },
    description: 'd',
    timeout: 500,
  },
  tools: [],
  consecutiveFailures: 0,
  createdAt: '2026-01-01T00:00:00.000Z',
});

test('a change contains only differences, and null removes a field', () => {
  expect(changeOf(shown, shown)).toEqual({});
  expect(changeOf(shown, { ...shown, description: '', url: 'https://b/' })).toEqual({
    description: null,
    url: 'https://b/',
  });
});

test('a mask is never sent back', () => {
  const more = { ...shown, headers: [...shown.headers, { name: 'X', value: '1' }] };
  expect(maskProblem(changeOf(shown, more))?.field).toBe('headers');
  expect(maskProblem(changeOf(shown, { ...shown, description: 'e' }))).toBeUndefined();
});

test.each([
  ['Name is required and must be a string', 'name'],
  ["MCP server 'a' already exists", 'name'],
  ['URL must start with http:// or https://', 'url'],
  ['URL must not hold a user name or password: use headers', 'url'],
  ['10.0.0.1 is private, loopback or link-local', 'url'],
  ['Command is required for stdio transport', 'command'],
  ['Config can have at most 16384 bytes', 'other'],
])('%j belongs to %s', (message, field) => {
  expect(fieldOf(message)).toBe(field);
});
