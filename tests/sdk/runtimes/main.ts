/**
 * Runs the packed client library under the runtimes that it names, against an embedded cloud whose connections break off:
 * `npm run test:runtimes`. Deno, Bun and Node 20 come from the npm registry, in these versions.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startServer } from '../../e2e/server.ts';
import { installPackage } from '../installed-package.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { expected } from './scenario.ts';
import { scenarioScript } from './scenario-script.ts';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '..', '..', '..');
const folder = join(repository, 'node_modules', '.runtimes');
const scenarioMsMax = 180_000;

const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
const packages = {
  node: `node-linux-${arch}`,
  deno: `@deno/linux-${arch}-glibc`,
  bun: arch === 'x64' ? '@oven/bun-linux-x64-baseline' : '@oven/bun-linux-aarch64',
};
const versions = { node: '20.20.2', deno: '2.9.6', bun: '1.4.5' };

const programOf = (runtime: keyof typeof packages, ...names: readonly string[]): string =>
  join(folder, 'node_modules', packages[runtime], ...names);
const node20 = programOf('node', 'bin', 'node');
type Runtime = { readonly command: readonly [string, ...string[]]; readonly hasWebSocket: boolean };
const runtimes: Readonly<Record<string, Runtime>> = {
  'Node 24': { command: [process.execPath], hasWebSocket: true },
  'Node 20': { command: [node20], hasWebSocket: false },
  'Node 20 with WebSocket': { command: [node20, '--experimental-websocket'], hasWebSocket: true },
  Deno: {
    command: [programOf('deno', 'deno'), 'run', '--no-prompt', '--allow-net', '--allow-env'],
    hasWebSocket: true,
  },
  Bun: { command: [programOf('bun', 'bin', 'bun'), 'run'], hasWebSocket: true },
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const installRuntimes = async (): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const dependencies = Object.fromEntries(
    (['node', 'deno', 'bun'] as const).map((name) => [packages[name], versions[name]]),
  );
  const manifest = JSON.stringify({ private: true, dependencies });
  const path = join(folder, 'package.json');
  if ((await readFile(path, 'utf8').catch(() => '')) === manifest) return;
  say('Installing Deno, Bun and Node 20');
  await writeFile(path, manifest);
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
};

await installRuntimes();
await using installed = await installPackage();
await writeFile(join(installed.folder, 'scenario.js'), await scenarioScript());
await writeFile(
  join(installed.folder, 'program.js'),
  `import * as library from '@sallyport/sdk';
import { runScenario } from './scenario.js';
console.log(JSON.stringify(await runScenario(library, {})));
`,
);
const server = await startServer();
try {
  await using proxy = await startCuttingProxy(server.url);
  const env = { SALLYPORT_URL: proxy.url, SALLYPORT_TOKEN: server.token, HOME: installed.folder };
  for (const [name, { command, hasWebSocket }] of Object.entries(runtimes)) {
    const [program, ...options] = command;
    const { stdout: version } = await run(program, ['--version'], { env });
    Object.assign(proxy.cuts, { streams: 4, sockets: 1 });
    const { stdout } = await run(program, [...options, 'program.js'], {
      ...{ cwd: installed.folder, env, timeout: scenarioMsMax },
    });
    deepStrictEqual(JSON.parse(stdout), expected);
    // Without sockets the library asks for events.
    deepStrictEqual(proxy.cuts, { streams: 0, sockets: hasWebSocket ? 0 : 1 });
    say(`${name} (${version.split('\n')[0]?.trim()}): passed`);
  }
} finally {
  await server.stop();
}
