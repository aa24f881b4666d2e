/** The clients as a deployment serves them: archives that npm installs from an address, and the sources of the Python package. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownPath, servedClients } from './installed-package.ts';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '..', '..');

let folder: string;
let server: Server;
let url: string;
let clients: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-clients-test-'));
  clients = await servedClients();
  server = createServer((request, response) => {
    readFile(join(clients, String(request.url).slice('/clients/'.length))).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/clients`;
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
});

/** A project of a user that has installed one of the archives from its address. */
const installed = async (name: string): Promise<string> => {
  const project = await mkdtemp(join(folder, 'project-'));
  await writeFile(join(project, 'package.json'), '{"type":"module","private":true}');
  const env = { PATH: ownPath, HOME: project };
  await run('npm', ['install', '--no-audit', '--no-fund', `${url}/${name}`], { cwd: project, env });
  return project;
};

test('the archives are named by their version', async () => {
  const names = ['sallyport-0.1.0.tar.gz', 'sallyport-cli-0.1.0.tgz', 'sallyport-sdk-0.1.0.tgz'];
  expect((await readdir(clients)).toSorted()).toEqual(names);
});

test('the library is imported after an installation from the address', async () => {
  const project = await installed('sallyport-sdk-0.1.0.tgz');
  const program = "import('@sallyport/sdk').then(({ Sallyport }) => console.log(typeof Sallyport));";
  expect((await run(process.execPath, ['-e', program], { cwd: project })).stdout).toBe('function\n');
  const types = join(project, 'node_modules', '@sallyport', 'sdk', 'dist', 'types', 'sdk', 'main.d.ts');
  expect(await readFile(types, 'utf8')).toContain('Sallyport');
});

test('the command line client runs after an installation from the address, and says which Node it needs', async () => {
  const program = join(await installed('sallyport-cli-0.1.0.tgz'), 'node_modules', '.bin', 'sallyport');
  const env = { HOME: folder, SALLYPORT_URL: url, SALLYPORT_TOKEN: 'sp_none' };
  expect((await run(process.execPath, [program, 'help'], { env })).stdout).toContain(
    'Usage: sallyport <command>',
  );
  const { stdout: ownVersion } = await run(process.execPath, [program, '--version'], { env });
  expect(ownVersion).toBe('0.1.0\n');
  const refused = await run(process.execPath, [program, 'sessions'], { env }).catch((error) => error);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('sallyport: ') });
  const older = await run(process.execPath, ['--import', asNode20, program, 'help'], { env }).catch(
    (error) => error,
  );
  expect(older).toMatchObject({
    code: 1,
    stderr: 'sallyport: Node 24 or newer is required, this is v20.1.0\n',
  });
});

test('the archive of the command line client has the licence of each package that its program contains', async () => {
  const archive = join(clients, 'sallyport-cli-0.1.0.tgz');
  const { stdout } = await run('tar', ['xzOf', archive, 'package/THIRD-PARTY-LICENSES']);
  const { stdout: program } = await run('tar', ['xzOf', archive, 'package/dist/program.js']);
  const bundled = new Set(
    [...program.matchAll(/node_modules\/((?:@[^/"]+\/)?[^/"]+)/g)].map(([, name = '']) => name),
  );
  expect([...bundled]).toContain('ws');
  for (const name of bundled) {
    const own = join(repository, 'node_modules', name);
    const { version, license } = JSON.parse(await readFile(join(own, 'package.json'), 'utf8'));
    const text = (await readFile(join(own, 'LICENSE'), 'utf8')).trim();
    expect(stdout).toContain(`${name} ${version} (${license})\n\n${text}\n`);
  }
});

const asNode20 =
  'data:text/javascript,const versions = { ...process.versions, node: "20.1.0" };' +
  'Object.defineProperties(process, { versions: { value: versions }, version: { value: "v20.1.0" } });';

test('the sources of the Python package are whole', async () => {
  const { stdout } = await run('tar', ['tzf', join(clients, 'sallyport-0.1.0.tar.gz')]);
  const listed = stdout.trim().split('\n');
  const { stdout: sources } = await run('git', ['ls-files', 'src'], {
    cwd: join(repository, 'sdk', 'python'),
  });
  const expected = ['LICENSE', 'pyproject.toml', ...sources.trim().split('\n')];
  expect(listed.toSorted()).toEqual(expected.map((path) => `sallyport-0.1.0/${path}`).toSorted());
  const manifest = await readFile(join(repository, 'sdk', 'python', 'pyproject.toml'), 'utf8');
  expect(manifest).toContain('version = "0.1.0"');
});
