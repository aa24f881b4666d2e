/** The settings of the sandbox's server: their defaults, and what each of them refuses. */
import { expect, test } from 'vitest';
import { readSettings } from './settings.ts';

const least = {
  SANDBOX_LISTEN: 'tcp://0.0.0.0:8080',
  SANDBOX_BEARER_SHA256: 'a'.repeat(64),
  SANDBOX_USER_LAUNCHER: '["/usr/bin/setpriv","--reuid=1000"]',
};

test('the least that a start needs is an address, a bearer and a launcher', () => {
  expect(readSettings(least)).toEqual({
    listen: { host: '0.0.0.0', port: 8080 },
    bearerSha256: 'a'.repeat(64),
    userLauncher: ['/usr/bin/setpriv', '--reuid=1000'],
    ...{ memoryMb: 512, processesMax: 256, isProcWritable: true, workspace: '/workspace' },
    ...{ cgroup: undefined, sharedPath: undefined, relaySocket: undefined },
    ...{ proxyPort: undefined, modelsPort: undefined },
  });
});

test('each has a form of its own', () => {
  const given = readSettings({
    ...least,
    ...{ SANDBOX_LISTEN: 'unix:/run/server.sock', SANDBOX_MEMORY_MB: '1024', SANDBOX_PROCESSES_MAX: '99' },
    ...{ SANDBOX_CGROUP: '/sys/fs/cgroup/user', SANDBOX_PROC: 'read-only', SANDBOX_WORKSPACE: '/w' },
    ...{ SANDBOX_SHARED_PATH: '/shared', SANDBOX_PROXY_PORT: '1024', SANDBOX_MODELS_PORT: '65535' },
    SANDBOX_RELAY_SOCKET: '/run/sallyport/relay',
  });
  expect(given).toMatchObject({
    listen: { path: '/run/server.sock' },
    ...{ memoryMb: 1024, processesMax: 99, cgroup: '/sys/fs/cgroup/user', isProcWritable: false },
    ...{ workspace: '/w', sharedPath: '/shared', proxyPort: 1024, modelsPort: 65_535 },
    relaySocket: '/run/sallyport/relay',
  });
});

test('a task may do without the shared folder that its definition names', () => {
  expect(readSettings({ ...least, SANDBOX_SHARED_PATH: 'none' }).sharedPath).toBeUndefined();
});

test.each([
  [
    'SANDBOX_LISTEN',
    [undefined, '', '8080', 'unix:run/sock', 'tcp://host:80', 'tcp://0.0.0.0:99999', 'tcp://...:80'],
  ],
  ['SANDBOX_BEARER_SHA256', [undefined, '', 'A'.repeat(64), 'a'.repeat(63), `${'a'.repeat(64)}\n`]],
  ['SANDBOX_USER_LAUNCHER', [undefined, '', '[]', '{}', '"env"', '[1]', '["env"']],
  ['SANDBOX_MEMORY_MB', ['', '0', '-1', '1.5', '1e3', 'many']],
  ['SANDBOX_PROCESSES_MAX', ['', '0', ' 5']],
  ['SANDBOX_CGROUP', ['', 'sys/fs']],
  ['SANDBOX_PROC', ['', 'true']],
  ['SANDBOX_WORKSPACE', ['', 'workspace']],
  ['SANDBOX_SHARED_PATH', ['', 'None', 'shared']],
  ['SANDBOX_PROXY_PORT', ['', '80', '1023', '65536', '0x1000']],
  ['SANDBOX_MODELS_PORT', ['', '99999']],
  ['SANDBOX_RELAY_SOCKET', ['', 'relay']],
] as const)('a bad %s stops the start, and is named', (name, values) => {
  for (const value of values)
    expect(() => readSettings({ ...least, [name]: value }), String(value)).toThrow(`${name}: `);
});

test('all that are bad are named at once', () => {
  expect(() => readSettings({})).toThrow(
    /SANDBOX_LISTEN: .*; SANDBOX_BEARER_SHA256: .*; SANDBOX_USER_LAUNCHER: /,
  );
});
