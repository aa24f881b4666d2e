import { expect, test } from 'vitest';
import {
  isWellFormed,
  maskedConfig,
  namesOfSecrets,
  resolveTexts,
  sandboxSecretsWarning,
  secretsInSandbox,
  withoutSecrets,
} from './secrets.ts';
import type { McpServerConfig } from './server.ts';

test.each([
  ['plain', true],
  ['$NAME', true],
  [`Bearer \${A_1}`, true],
  [`\${A}\${B}`, true],
  [`\${`, false],
  [`\${}`, false],
  [`\${1A}`, false],
  [`\${A`, false],
  [`\${A B}`, false],
  [`\${\${A}}`, false],
])('the syntax of %s', (text, isRight) => {
  expect(isWellFormed(text)).toBe(isRight);
});

test('every name is replaced, and a value is inserted unchanged', () => {
  const secrets = { A: `\${B}`, B: '$&' };
  expect(namesOfSecrets(`\${A}-\${B}-\${A}`)).toEqual(['A', 'B', 'A']);
  expect(resolveTexts({ one: `x\${A}`, two: `\${B}\${B}` }, secrets)).toEqual({
    ok: true,
    texts: { one: `x\${B}`, two: '$&$&' },
  });
});

test('missing secrets are listed once each, also names that every object has', () => {
  const texts = { one: `\${Z} \${A}`, two: `\${Z}`, three: `\${toString}` };
  expect(resolveTexts(texts, { A: 'x' })).toEqual({ ok: false, missing: ['Z', 'toString'] });
});

test('R6: a configuration is shown without its secrets, and with their names', () => {
  const remote: McpServerConfig = {
    transport: 'http',
    url: 'https://a/mcp?api_key=abc&page=1&sig#x=y',
    headers: {
      Authorization: 'Bearer abc',
      'X-Api-Key': `\${KEY}`,
      Cookie: `a=\${KEY}`,
      'X-Token': `Bearer \${TOKEN}`,
      'X-Secret': `pass \${TOKEN}`,
      Accept: 'text/plain',
    },
  };
  expect(maskedConfig(remote)).toEqual({
    transport: 'http',
    url: 'https://a/mcp?api_key=***&page=1&sig#x=y',
    headers: {
      Authorization: '***',
      'X-Api-Key': `\${KEY}`,
      Cookie: '***',
      'X-Token': `Bearer \${TOKEN}`,
      'X-Secret': '***',
      Accept: 'text/plain',
    },
  });
  const stdio: McpServerConfig = { transport: 'stdio', command: 'x', env: { DB_PASSWORD: 'p', HOME: '/' } };
  expect(maskedConfig(stdio)).toEqual({ ...stdio, env: { DB_PASSWORD: '***', HOME: '/' } });
  const bare: McpServerConfig[] = [
    { transport: 'sse', url: 'https://a' },
    { transport: 'stdio', command: 'x' },
  ];
  expect(bare.map(maskedConfig)).toEqual(bare);
});

test('R7: secrets in the variables of a server that runs in sandboxes are warned of by name', () => {
  const config: McpServerConfig = {
    transport: 'stdio',
    command: 'x',
    args: [`\${NOT_FILLED}`],
    env: { A: `\${KEY} \${KEY}`, B: `x\${DB}`, C: 'plain' },
  };
  expect(secretsInSandbox(config)).toEqual(['DB', 'KEY']);
  expect(sandboxSecretsWarning(config)).toMatch(/can read DB, KEY, because/);
  const outside: McpServerConfig = { transport: 'http', url: 'https://a', headers: { A: `\${KEY}` } };
  expect([secretsInSandbox(outside), sandboxSecretsWarning(outside)]).toEqual([[], undefined]);
  expect(secretsInSandbox({ transport: 'stdio', command: 'x' })).toEqual([]);
});

test('R6: a server’s messages are stored without the secrets it was sent', () => {
  const config: McpServerConfig = {
    transport: 'http',
    url: 'https://a',
    headers: {
      Authorization: 'Bearer literal-1',
      'X-A': `a \${A}\${MISSING}`,
      'X-B': `\${B}`,
      Accept: 'text',
    },
  };
  const secrets = { A: 'abcd', B: 'abcdef', C: 'unused', D: 'xy' };
  const said = 'Bearer literal-1, literal-1, abcdef, abcd, unused, text';
  expect(withoutSecrets(said, config, secrets)).toBe('***, ***, ***, ***, unused, text');
  const stdio: McpServerConfig = { transport: 'stdio', command: 'x', env: { KEY: `\${D}` } };
  expect(withoutSecrets('xy', stdio, secrets)).toBe('xy');
  expect(withoutSecrets('said', { transport: 'stdio', command: 'x' }, {})).toBe('said');
});
