/** Every tool of `/mcp`, black-box, by the clients of both generations: they hold each result against its schema. */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { AjvJsonSchemaValidator as OlderValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, errorOf, type Fields, fieldsOf, generations, type McpClient } from './mcp-clients.ts';
import { type Server, startServer, unthrottled } from './server.ts';

let server: Server;
let client: McpClient;
let session_id: unknown;
beforeAll(async () => {
  server = await startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
  client = await connect(server);
  ({ session_id } = fieldsOf(await client.call('execute_command', { command: 'true' })));
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

const call = async (name: string, args: Fields = {}): Promise<Fields> =>
  fieldsOf(await client.call(name, { session_id, ...args }));
const refused = async (name: string, args: Fields = {}): Promise<string> =>
  errorOf(await client.call(name, { session_id, ...args })).type;

test.each(generations)('a client of %s lists every tool and calls it', async (generation) => {
  const caller = await connect(server, generation);
  const calls: Readonly<Record<string, readonly Fields[]>> = {
    execute_code: [
      { code: 'print(6 * 7)', session_id },
      { code: '1 / 0', session_id },
    ],
    execute_command: [{ command: 'echo', args: ['on'], session_id }],
    process: [{ action: 'list', session_id }],
    get_sessions: [{}, { session_id }],
    get_volume_path: [{}],
    write_file: [{ session_id, path: 'a/b.txt', content: 'text' }],
    read_file: [{ session_id, path: 'a/b.txt' }],
    list_files: [{ session_id }],
    project: [{ action: 'create', name: 'p' }, { action: 'list' }, { action: 'options' }],
    schedule: [{ action: 'create', name: 's', cron_expr: '0 0 1 1 *', prompt: 'hello' }, { action: 'list' }],
    token: [{ action: 'create', name: 't', scope: 'admin:ro' }, { action: 'list' }],
    session: [{ action: 'list' }],
    workspace: [{ action: 'list' }],
    config_limits: [{}, { session_id }],
    // Nothing waits here: caller-tools.test.ts has the whole.
    caller_tool_response: [],
    stop_session: [
      { session_id: fieldsOf(await caller.call('execute_command', { command: 'true' }))['session_id'] },
    ],
  };
  const listed = (await caller.tools()).map(({ name }) => name);
  expect(listed.toSorted()).toEqual(Object.keys(calls).toSorted());
  for (const [name, all] of Object.entries(calls))
    for (const args of all) {
      const result = await caller.call(name, args);
      expect(JSON.parse(result.content[0]?.text ?? ''), name).toEqual(fieldsOf(result));
    }
  for (const name of listed) {
    const { recovery_actions } = errorOf(await caller.call(name, { nothing: 'of that name' }));
    expect([name, recovery_actions]).toEqual([name, ['correct_arguments']]);
  }
  await caller.close();
});

test('schemas can be compiled as draft 7, as older clients do, and as 2020-12', async () => {
  const newer = new AjvJsonSchemaValidator();
  const older = new OlderValidator();
  for (const { name, inputSchema, outputSchema } of await client.tools())
    for (const schema of [inputSchema, outputSchema ?? {}]) {
      expect(schema).toMatchObject({ type: 'object' });
      expect(schema).not.toHaveProperty('$schema');
      const verdicts = [newer, older].map((validator) => validator.getValidator(schema)('no object').valid);
      expect([name, ...verdicts]).toEqual([name, false, false]);
    }
});

test('a result names a file as a listing does, however the request wrote its path', async () => {
  for (const path of ['plain//./name.txt', './plain/x/../name.txt'])
    expect(await call('write_file', { path, content: 'x' })).toMatchObject({
      path: 'plain/name.txt',
      message: 'Successfully wrote to plain/name.txt',
    });
  expect(await call('read_file', { path: 'plain//name.txt' })).toMatchObject({ path: 'plain/name.txt' });
  expect(await call('list_files', { path: './plain//' })).toMatchObject({ path: 'plain' });
});

test('a file is written, listed and read, and code sees it', async () => {
  const folder = `deep/${crypto.randomUUID()}`;
  const content = 'first line\nné 🙂\n';
  expect(await call('write_file', { path: `${folder}/a b?.txt`, content })).toEqual({
    path: `${folder}/a b?.txt`,
    size: Buffer.byteLength(content),
    created: true,
    message: `Successfully wrote to ${folder}/a b?.txt`,
  });
  expect(await call('read_file', { path: `/workspace/${folder}/a b?.txt` })).toEqual({
    path: `/workspace/${folder}/a b?.txt`,
    size: Buffer.byteLength(content),
    mime_type: 'text/plain',
    content,
  });
  expect(await call('list_files', { path: folder })).toEqual({
    path: folder,
    files: [
      {
        name: 'a b?.txt',
        type: 'file',
        size: Buffer.byteLength(content),
        modified_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ],
  });
  expect(await call('write_file', { path: `${folder}/a b?.txt`, content: '' })).toMatchObject({
    created: false,
  });
  expect(await call('execute_command', { command: `cat ${folder}/*; touch new` })).toMatchObject({
    stdout: '',
  });
  const { files } = await call('list_files');
  expect((files as Fields[]).map(({ name, type }) => [name, type])).toContainEqual(['new', 'file']);
});

test('a binary file comes beside the result: a picture as an image, the rest as a resource', async () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const bytes = Buffer.from([0, 255, 254, 10]);
  for (const [path, content] of [
    ['p.txt', png],
    ['b.bin', bytes],
  ] as const)
    await call('write_file', { path, content: content.toString('base64'), encoding: 'base64' });
  const picture = await client.call('read_file', { session_id, path: 'p.txt' });
  expect(fieldsOf(picture)).toEqual({ path: 'p.txt', size: png.length, mime_type: 'image/png' });
  expect(picture.content.slice(1)).toEqual([
    { type: 'image', data: png.toString('base64'), mimeType: 'image/png' },
  ]);
  const other = await client.call('read_file', { session_id, path: 'b.bin' });
  expect(fieldsOf(other)).toEqual({ path: 'b.bin', size: 4, mime_type: 'application/octet-stream' });
  expect(other.content.slice(1)).toEqual([
    {
      type: 'resource',
      resource: {
        uri: `sallyport://sessions/${session_id}/files/b.bin`,
        mimeType: 'application/octet-stream',
        blob: bytes.toString('base64'),
      },
    },
  ]);
});

test('a path outside the workspace, a missing file and a large one are refused', async () => {
  for (const path of ['..', '../x', '/etc/passwd', 'a/../../x', '/workspace/../etc/passwd'])
    for (const name of ['read_file', 'write_file', 'list_files'])
      expect([
        name,
        path,
        await refused(name, name === 'write_file' ? { path, content: '' } : { path }),
      ]).toEqual([name, path, 'path_outside_workspace']);
  await call('execute_command', { command: 'ln -sfn /etc etc; head -c 1048577 /dev/zero > large' });
  expect(await refused('read_file', { path: 'etc/passwd' })).toBe('path_outside_workspace');
  expect(await refused('read_file', { path: 'none' })).toBe('file_not_found');
  expect(await refused('list_files', { path: 'none' })).toBe('file_not_found');
  expect(await refused('read_file', { path: 'large' })).toBe('payload_too_large');
  expect(await refused('write_file', { path: 'x', content: 'x'.repeat(3_200_000) })).toBe(
    'payload_too_large',
  );
  expect(await refused('write_file', { path: 'x', content: '%', encoding: 'base64' })).toBe(
    'invalid_request',
  );
  expect(await refused('read_file', { path: '' })).toBe('invalid_request');
  expect(await refused('read_file', { path: 'x', session_id: crypto.randomUUID() })).toBe(
    'session_not_found',
  );
});

test('files of an agent session are read in the same way, and survive its sandbox', async () => {
  const made = await server.request('/api/sessions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const { id } = (await made.json()) as { id: string };
  const phases: (string | undefined)[] = [];
  const written = await client.call(
    'write_file',
    { session_id: id, path: 'note', content: 'kept' },
    { onProgress: ({ message }) => phases.push(message) },
  );
  expect(fieldsOf(written)['created']).toBe(true);
  expect(phases).toEqual([
    `[session ${id}]`,
    '[starting the sandbox]',
    expect.stringMatching(/^\[the sandbox is ready after \d+ ms/),
    '[saving the workspace]',
  ]);
  expect(fieldsOf(await client.call('read_file', { session_id: id, path: 'note' }))['content']).toBe('kept');
  await client.call('stop_session', { session_id: id });
  expect(errorOf(await client.call('read_file', { session_id: id, path: 'note' })).type).toBe(
    'invalid_session_state',
  );
});

test('limits are returned as they are in force, with those of a session', async () => {
  const limits = {
    project_id: '00000000-0000-4000-8000-000000000000',
    max_recursion_depth: 3,
    max_agents_per_session: 50,
    max_cost_usd: 10,
    max_sessions: 10,
    active_sessions: expect.any(Number),
    max_agent_sessions: 10,
    max_steps_per_turn: 50,
    flavors_allowed: ['micro', 'small', 'medium', 'large'],
    timeout_seconds: { default: 30, max: 3600 },
    max_wait_seconds: 60,
    idle_seconds: { execution: 1800, agent: 900 },
    rate_limit: {
      per_second: Number(unthrottled.RATE_LIMIT_PER_SECOND),
      burst: Number(unthrottled.RATE_LIMIT_BURST),
    },
    max_read_file_bytes: 1_048_576,
    max_write_file_bytes: 3_080_192,
  };
  expect(fieldsOf(await client.call('config_limits'))).toEqual(limits);
  expect(await call('config_limits')).toEqual({ ...limits, current_depth: 0, current_cost_usd: 0 });
  const made = fieldsOf(
    await client.call('project', { action: 'create', name: 'small', flavors_allowed: ['micro'] }),
  );
  const ofProject = fieldsOf(await client.call('config_limits', { project_id: made['id'] }));
  expect(ofProject).toEqual({ ...limits, project_id: made['id'], flavors_allowed: ['micro'] });
  expect(await refused('config_limits', { project_id: made['id'] })).toBe('invalid_session_state');
  expect(errorOf(await client.call('config_limits', { project_id: crypto.randomUUID() })).type).toBe(
    'project_not_found',
  );
});

test.each(generations)(
  'a client of %s is shown a part of a long output, and reads the rest',
  async (generation) => {
    const caller = await connect(server, generation);
    const long = await caller.call('execute_command', { command: 'seq 1 300000', session_id, args: [] });
    expect(JSON.stringify(long).length).toBeLessThan(130_000);
    const { stdout, stdout_file: file } = fieldsOf(long);
    expect(String(stdout).length).toBeLessThan(30_200);
    const middle = `sed -n 150000p ${file}; wc -l < ${file}`;
    expect(await call('execute_command', { command: middle })).toMatchObject({ stdout: '150000\n300000\n' });
    await caller.close();
  },
);

test('a client that fills every optional argument is served', async () => {
  const empty = { template: '', flavor: null, project_id: '', cwd: '', env: [], output_limit: null };
  const filled = { ...empty, timeout: null, wait_seconds: '', evict_idle: null, args: [] };
  expect(await call('execute_command', { command: 'echo $PWD', ...filled })).toMatchObject({
    stdout: '/workspace\n',
    exit_code: 0,
  });
});

test.each(['object', 'list'] as const)('folder and variables, as an %s, hold for one call', async (form) => {
  const env = form === 'object' ? { SHADE: 'green' } : ['SHADE=green'];
  const input = { command: 'echo $PWD $SHADE', cwd: '/tmp', env };
  expect(await call('execute_command', input)).toMatchObject({ stdout: '/tmp green\n' });
  const code = 'import os; print(os.getcwd(), os.environ["SHADE"])';
  expect(await call('execute_code', { code, cwd: '/tmp', env })).toMatchObject({ stdout: '/tmp green\n' });
});

test.each(generations)('a client of %s receives output in time to answer it', async (generation) => {
  const caller = await connect(server, generation);
  const path = `go-${crypto.randomUUID()}`;
  const { promise: heard, resolve } = Promise.withResolvers<void>();
  const command = `echo ready; until [ -e ${path} ]; do sleep 0.05; done; echo done`;
  const running = caller.call(
    'execute_command',
    { command, session_id, timeout: 20 },
    { onProgress: ({ message }) => message === 'ready\n' && resolve() },
  );
  await heard;
  await call('write_file', { path, content: '' });
  expect(fieldsOf(await running)).toMatchObject({ stdout: 'ready\ndone\n', exit_code: 0 });
  await caller.close();
});
