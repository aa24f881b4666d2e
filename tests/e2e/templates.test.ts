/** Templates of the operator, on a machine whose engine of containers is a program of the test. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from './embedded-cloud.ts';
import { type Server, startServer } from './server.ts';

let folder: string;
let server: Server | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-templates-'));
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts the program where `docker` is this script, and `podman` does not answer. */
const startWith = async (docker: string, templates: readonly object[]): Promise<Server> => {
  for (const [name, script] of Object.entries({ docker, podman: 'exit 1' })) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }
  server = await startServer({
    variables: {
      PATH: `${folder}:/usr/sbin:/usr/bin:/sbin:/bin`,
      SANDBOX_TEMPLATES: JSON.stringify(templates),
    },
  });
  return server;
};

const science = { name: 'science', image: 'example.org/science:7', description: 'R and Julia' };

type Refusal = { readonly error: { readonly code: string; readonly message: string } };

const make = (at: Server, body: object): Promise<Response> =>
  at.request('/api/sessions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'execution', ...body }),
  });
const run = (at: Server, id: string, command: string): Promise<Response> =>
  at.request(`/api/sessions/${id}/exec`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ command }),
  });

test('without Docker and Podman a template says what is missing, and the others work', async () => {
  const at = await startWith('exit 1', [science]);
  expect(at.output()).toContain('Template science cannot be used: it is built with Docker or Podman');
  const { templates } = (await (await at.request('/api/templates')).json()) as { templates: object[] };
  expect(templates).toMatchObject([
    { name: 'python', isDefault: true },
    { name: 'node', isDefault: false },
    {
      name: 'science',
      language: 'python',
      description: 'R and Julia',
      isDefault: false,
      problem: expect.stringContaining('neither is running on this machine'),
    },
  ]);
  expect(JSON.stringify(templates)).not.toContain('example.org');

  const refused = await make(at, { template: 'science' });
  expect(refused.status).toBe(400);
  expect((await refused.json()) as Refusal).toMatchObject({
    error: { code: 'unsupported_language', message: expect.stringContaining('Docker or Podman') },
  });
  const unknown = await make(at, { template: 'ruby' });
  expect((await unknown.json()) as Refusal).toMatchObject({
    error: { code: 'unsupported_language', message: 'template: use one of python, node, science' },
  });
  const { id } = (await (await make(at, { template: 'node' })).json()) as { id: string };
  expect(await (await run(at, id, 'echo here')).json()).toMatchObject({ exitCode: 0, stdout: 'here\n' });
});

test('an image that cannot be built is named with the reason, at the start and to its sessions', async () => {
  const log = join(folder, 'builds');
  const at = await startWith(
    `[ "$1" = info ] && exit 0\nprintf '%s\\n' "$*" >> ${log}\necho 'example.org: no such host' >&2\nexit 125`,
    [science],
  );
  await eventually(
    async () => at.output(),
    (output) => output.includes('Template science could not be built: example.org: no such host'),
  );
  const made = await make(at, { template: 'science' });
  expect(made.status).toBe(201);
  const session = (await made.json()) as { readonly id: string; readonly template: string };
  expect(session.template).toBe('science');
  const failed = await run(at, session.id, 'true');
  expect(failed.status).toBe(502);
  expect((await failed.json()) as Refusal).toMatchObject({
    error: { code: 'sandbox_start_failed', message: expect.stringContaining('no such host') },
  });
});
