import { describe, expect, test } from 'vitest';
import { clientEntry, mergeEntry, settingsFile } from './setup.ts';

const url = 'https://sally.example';
const reference = (name: string): string => `Bearer \${${name}}`;

test('each client gets a reference to the token in its own notation, and the token itself only on request', () => {
  const http = { type: 'http', url: 'https://sally.example/mcp' };
  expect(clientEntry('claude-code', { url })).toEqual({
    ...http,
    headers: { Authorization: reference('SALLYPORT_TOKEN') },
  });
  expect(clientEntry('cursor', { url })).toEqual({
    url: 'https://sally.example/mcp',
    headers: { Authorization: reference('env:SALLYPORT_TOKEN') },
  });
  expect(clientEntry('json', { url, token: 'sp_1' })).toEqual({
    ...http,
    headers: { Authorization: 'Bearer sp_1' },
  });
  expect(clientEntry('claude-desktop', { url, token: 'sp_1' })).toEqual({
    command: 'npx',
    args: [
      '-y',
      'mcp-remote',
      'https://sally.example/mcp',
      '--header',
      `Authorization:${reference('SALLYPORT_TOKEN')}`,
    ],
    env: { SALLYPORT_TOKEN: 'sp_1' },
  });
});

describe('a settings file of another program', () => {
  test('keeps everything but the sallyport entry', () => {
    const text = '{"other":1,"mcpServers":{"theirs":{"command":"x"},"sallyport":{"url":"old"}}}';
    expect(JSON.parse(mergeEntry(text, { url: 'new' }, 'f'))).toEqual({
      other: 1,
      mcpServers: { theirs: { command: 'x' }, sallyport: { url: 'new' } },
    });
    expect(mergeEntry(undefined, {}, 'f')).toBe('{\n  "mcpServers": {\n    "sallyport": {}\n  }\n}\n');
  });

  test.each(['{ // comment', '[]', '{"mcpServers":[]}'])('is not changed when it contains %j', (text) => {
    expect(() => mergeEntry(text, {}, 'f')).toThrow('f was not changed');
  });
});

test('each client has its own file', () => {
  const place = { folder: '/p', homeFolder: '/h', variables: {} };
  expect(settingsFile('claude-code', { ...place, platform: 'linux' })).toBe('/p/.mcp.json');
  expect(settingsFile('cursor', { ...place, platform: 'linux' })).toBe('/p/.cursor/mcp.json');
  expect(settingsFile('json', { ...place, platform: 'linux' })).toBeUndefined();
  expect(settingsFile('claude-desktop', { ...place, platform: 'linux' })).toBe(
    '/h/.config/Claude/claude_desktop_config.json',
  );
  expect(settingsFile('claude-desktop', { ...place, platform: 'darwin' })).toBe(
    '/h/Library/Application Support/Claude/claude_desktop_config.json',
  );
});
