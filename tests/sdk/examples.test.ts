/**
 * The examples of the client library's page and of the page for users of E2B, run with the package as it is installed: they
 * print what the pages say.
 *
 * Lines of its table that ask a host outside ask one of this test's instead.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { api } from '#sdk/routes.ts';
import { Sallyport } from '#sdk/sallyport.ts';
import { type OutsideHost, openHttpHost } from '../e2e/egress-hosts.ts';
import { makeOutside, serveOutside } from '../e2e/egress-packages.ts';
import { type Server, startServer } from '../e2e/server.ts';
import { type InstalledPackage, unpackPackage } from './installed-package.ts';
import { readExamples, readTableLines } from './page-examples.ts';

const examples = [...(await readExamples('sdk.md')), ...(await readExamples('from-e2b.md'))];
const lines = await readTableLines('sdk.md');

let server: Server;
let installed: InstalledPackage;
let host: OutsideHost;
let folder: string;
const seen: string[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-outside-'));
  await makeOutside(folder);
  host = await openHttpHost(serveOutside(folder, { origin: outsideUrl, seen }));
  const listed = `localhost:${host.port}`;
  const network = { EGRESS_ALLOW: `pypi.org,${listed}`, EGRESS_ALLOWED_PRIVATE_HOSTS: listed };
  [server, installed] = await Promise.all([
    startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro', ...network } }),
    unpackPackage(),
  ]);
  await new Sallyport(server).request(api.changeProject, {
    params: { id: '00000000-0000-4000-8000-000000000000' },
    body: { network: { allow: ['pypi.org', listed] } },
  });
});
afterAll(async () => {
  host.close();
  await Promise.all([server.stop(), installed[Symbol.asyncDispose](), rm(folder, { recursive: true })]);
});

const outsideUrl = (): string => `http://localhost:${host.port}`;
/** `localhost` is the sandbox itself unless a program is told otherwise. */
const outsideCommands = (): Readonly<Record<string, string>> => ({
  'git clone https://git.example.com/repository.git': `no_proxy= NO_PROXY= git clone ${outsideUrl()}/repository.git`,
  'python3 -m pip install --target lib requests': `no_proxy= NO_PROXY= python3 -m pip install --target lib --index-url ${outsideUrl()}/simple/ --trusted-host localhost outside`,
});

/** A command that fails is no exception to the library. */
const checked = (line: string): string => {
  const found = Object.entries(outsideCommands()).find(([command]) => line.includes(command));
  const runnable = found === undefined ? line : line.replace(...found);
  if (!line.startsWith('await sandbox.exec(')) return runnable;
  return `{ const ran = ${runnable}; if (ran.exitCode !== 0) throw new Error(ran.stderr); }`;
};

const run = async (program: string): Promise<string> => {
  const env = { SALLYPORT_URL: server.url, SALLYPORT_TOKEN: server.token };
  const options = { cwd: installed.folder, env };
  const args = ['--input-type=module-typescript', '--eval', program];
  return (await promisify(execFile)(process.execPath, args, options)).stdout;
};

test('the pages have their examples', () => {
  expect([examples.length, lines.length]).toEqual([13, 51]);
});

test.each(examples)('example %#', async ({ program, printed }) => {
  expect(await run(program)).toBe(printed);
});

test('each line of the table runs', async () => {
  const program = [
    `import { Sallyport } from '@sallyport/sdk';`,
    `const sallyport = new Sallyport();`,
    `const sandbox = await sallyport.sandboxes.create({ template: 'python' });`,
    ...lines.flatMap((line, index) => [checked(line), `console.log(${index});`]),
    `for (const one of await sallyport.sandboxes.list()) await one.stop();`,
  ].join('\n');
  expect((await run(program)).trim().split('\n')).toEqual(lines.map((_, index) => String(index)));
  expect(seen).toEqual(expect.arrayContaining(['/repository.git/HEAD', '/simple/outside/']));
});
