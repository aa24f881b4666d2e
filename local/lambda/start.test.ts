/** The Lambda endpoint, asked by the real SDK client; handlers are the small modules in `fixtures/`. */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  InvokeCommand,
  InvokeWithResponseStreamCommand,
  LambdaClient,
  ResourceNotFoundException,
  TooManyRequestsException,
} from '@aws-sdk/client-lambda';
import { build } from 'esbuild';
import { afterEach, expect, test, vi } from 'vitest';
import type { LambdaMode } from './environment.ts';
import type { FunctionDefinition } from './function.ts';
import { type LambdaEndpoint, start } from './start.ts';

/** A busy machine may take as long as this; what is waited for comes at once elsewhere. */
const patience = { timeout: 50_000 };

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of opened.splice(0).reverse()) await stop();
});

/** The modules of the streaming fixtures; all others are in one. */
const modules: Readonly<Record<string, string>> = { streaming: 'streaming.ts', 'middy-stream': 'middy.ts' };

const define = (fixture: string, more: Partial<FunctionDefinition> = {}): FunctionDefinition => ({
  name: `sallyport-${fixture}`,
  entry: join(import.meta.dirname, 'fixtures', modules[fixture] ?? 'buffered.ts'),
  environment: {},
  timeoutMs: 5000,
  memoryMb: 256,
  ...more,
});

type Cloud = { readonly client: LambdaClient; readonly endpoint: LambdaEndpoint; readonly printed: string[] };

const deploy = async (
  definitions: readonly FunctionDefinition[],
  mode: LambdaMode = { kind: 'shared' },
): Promise<Cloud> => {
  const printed: string[] = [];
  const endpoint = await start({ mode, log: (text) => printed.push(text), retryDelaysMs: [5, 10] });
  endpoint.deploy(definitions);
  const client = new LambdaClient({
    endpoint: endpoint.url,
    region: 'us-east-1',
    credentials: endpoint.credentials,
    maxAttempts: 1,
  });
  opened.push(endpoint.stop, async () => client.destroy());
  return { client, endpoint, printed };
};

const call = async (client: LambdaClient, fixture: string, event: unknown = {}) => {
  const answer = await client.send(
    new InvokeCommand({ FunctionName: `sallyport-${fixture}`, Payload: JSON.stringify(event) }),
  );
  return { ...answer, result: JSON.parse(answer.Payload?.transformToString() ?? 'null') };
};

test('the stack of a bundled function names its sources', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bundled-'));
  const source = join(folder, 'source.ts');
  await writeFile(
    source,
    "\n\nexport const handler = async (): Promise<never> => {\n  throw new RangeError('out of reach');\n};\n",
  );
  const entry = join(folder, 'handler.mjs');
  await build({
    entryPoints: [source],
    outfile: entry,
    bundle: true,
    minify: true,
    format: 'esm',
    sourcemap: 'linked',
  });
  const { client } = await deploy([define('bundled', { entry })]);
  const { result } = await call(client, 'bundled');
  expect(result).toMatchObject({ errorType: 'RangeError', errorMessage: 'out of reach' });
  expect(result.trace.slice(0, 2)).toEqual([
    'RangeError: out of reach',
    expect.stringContaining(`${source}:4:9`),
  ]);
});

test('a deploy of other code is for the next invocations: what runs ends with its own', async () => {
  const { client, endpoint } = await deploy([define('slow')]);
  const running = call(client, 'slow', { waitMs: 500 });
  const entry = join(await mkdtemp(join(tmpdir(), 'sallyport-deploy-')), 'handler.mjs');
  await writeFile(entry, "export const handler = async () => 'the new code';\n");
  endpoint.deploy([define('slow', { entry })]);
  expect((await call(client, 'slow')).result).toBe('the new code');
  expect((await running).result).toBe('done');
});

test('a function gets its event and Lambda’s context', async () => {
  const { client } = await deploy([define('echo')]);
  const answer = await call(client, 'echo', { hello: 'world' });
  expect(answer.result).toEqual({
    event: { hello: 'world' },
    requestId: answer.$metadata.requestId,
    functionName: 'sallyport-echo',
    arn: 'arn:aws:lambda:us-east-1:000000000000:function:sallyport-echo',
    hasTimeLeft: true,
  });
  expect(answer.FunctionError).toBeUndefined();
});

test('a function may be named by its ARN', async () => {
  const { client } = await deploy([define('echo')]);
  const answer = await client.send(
    new InvokeCommand({ FunctionName: 'arn:aws:lambda:us-east-1:000000000000:function:sallyport-echo' }),
  );
  expect(answer.StatusCode).toBe(200);
});

test('A22: a handler that throws is a function error with Lambda’s body, and its output is logged', async () => {
  const { client, printed } = await deploy([define('failing')]);
  const answer = await call(client, 'failing', { text: 'now' });
  expect(answer.StatusCode).toBe(200);
  expect(answer.FunctionError).toBe('Unhandled');
  expect(answer.result).toMatchObject({ errorType: 'TypeError', errorMessage: 'the handler does not work' });
  await vi.waitFor(() => expect(printed.join('')).toContain('about to fail: now\n'), patience);
  expect(printed.join('')).toMatch(
    /"Invoke Error","function":"sallyport-failing".*"the handler does not work"/,
  );
});

test('A21: a function that exceeds its timeout fails with Lambda’s message', async () => {
  const { client } = await deploy([define('slow', { timeoutMs: 100 })]);
  const answer = await call(client, 'slow', { waitMs: 60_000 });
  expect(answer.FunctionError).toBe('Unhandled');
  expect(answer.result.errorType).toBe('Sandbox.Timedout');
  expect(answer.result.errorMessage).toMatch(
    /^RequestId: [0-9a-f-]{36} Error: Task timed out after 0.10 seconds$/,
  );
});

test('A21: a handler that never yields is killed, and functions beside it continue', async () => {
  const { client } = await deploy([define('stuck', { timeoutMs: 100 }), define('echo')]);
  expect((await call(client, 'stuck')).result.errorType).toBe('Sandbox.Timedout');
  await vi.waitFor(async () => expect((await call(client, 'echo', 1)).result.event).toBe(1), {
    timeout: 50_000,
  });
});

test('A18: a worker that dies fails its invocation and is replaced', async () => {
  const { client } = await deploy([define('exiting')]);
  const answer = await call(client, 'exiting', { exit: true });
  expect(answer.result).toMatchObject({ errorType: 'Runtime.ExitError' });
  expect((await call(client, 'exiting', { exit: false })).result).toBe('alive');
});

test('A17: an environment serves one invocation at a time and is reused when idle', async () => {
  const { client } = await deploy([define('environment')]);
  const together = await Promise.all([1, 2, 3].map(() => call(client, 'environment', { waitMs: 50 })));
  expect(new Set(together.map((answer) => answer.result.copy)).size).toBe(3);
  const after = await call(client, 'environment');
  expect(after.result.served).toBe(2);
});

test('A18: strict mode gives each function only its own variables, and replaces environments', async () => {
  const { client } = await deploy(
    [
      define('environment', { environment: { MINE: 'yes' } }),
      define('echo', { environment: { THEIRS: 'secret' } }),
    ],
    { kind: 'strict', killEvery: 2 },
  );
  const own = await call(client, 'environment', { variable: 'MINE' });
  expect(own.result).toMatchObject({
    value: 'yes',
    served: 1,
    functionName: 'sallyport-environment',
    initialization: 'on-demand',
  });
  expect((await call(client, 'environment', { variable: 'THEIRS' })).result).toMatchObject({
    value: null,
    served: 2,
  });
  expect((await call(client, 'environment', { variable: 'PATH' })).result).toMatchObject({
    value: null,
    served: 1,
  });
});

test('shared mode refuses functions with conflicting values of one variable', async () => {
  const endpoint = await start({ mode: { kind: 'shared' }, log: () => undefined });
  opened.push(endpoint.stop);
  expect(() =>
    endpoint.deploy([
      define('echo', { environment: { TABLE: 'a' } }),
      define('slow', { environment: { TABLE: 'b' } }),
    ]),
  ).toThrow(
    'TABLE of sallyport-slow differs from that of another function: the shared mode has one environment',
  );
});

test('A22: an unknown function is not found', async () => {
  const { client } = await deploy([define('echo')]);
  await expect(call(client, 'nothing')).rejects.toBeInstanceOf(ResourceNotFoundException);
});

test('an unsigned request is refused', async () => {
  const { endpoint } = await deploy([define('echo')]);
  const answer = await fetch(`${endpoint.url}/2015-03-31/functions/sallyport-echo/invocations`, {
    method: 'POST',
    body: '{}',
  });
  expect(answer.status).toBe(403);
});

test('A22: over the reserved concurrency an invocation is throttled', async () => {
  const { client } = await deploy([define('slow', { concurrencyMax: 1 })]);
  const first = call(client, 'slow', { waitMs: 3000 });
  await expect(
    vi.waitUntil(
      () =>
        call(client, 'slow', { waitMs: 1 }).then(
          () => undefined,
          (cause) => cause,
        ),
      patience,
    ),
  ).resolves.toBeInstanceOf(TooManyRequestsException);
  expect((await first).result).toBe('done');
});

test.each([
  [{ timeoutMs: 30_000 }, 32],
  [{ timeoutMs: 30_001 }, 40],
  // Nobody waits for an answer to an event.
  [{ timeoutMs: 30_000, events: { retriesMax: 0 } }, 40],
] as const)(
  'of forty invocations at once of a function with %o, %i run: the others wait outside of their time',
  async (limits, most) => {
    const { client } = await deploy([define('counted', limits)]);
    const calls = Array.from({ length: 40 }, () => call(client, 'counted', { waitMs: 500 }));
    const atOnce = (await Promise.all(calls)).map(({ result }) => Number(result));
    expect(Math.max(...atOnce)).toBe(most);
  },
);

test('of forty invocations at once in the strict mode most find an environment that has become free', async () => {
  const { client } = await deploy([define('environment')], { kind: 'strict' });
  const calls = Array.from({ length: 40 }, () => call(client, 'environment'));
  const copies = (await Promise.all(calls)).map(({ result }) => (result as { copy: string }).copy);
  expect(new Set(copies).size).toBeLessThan(20);
});

test('A19: a payload over 6 MB is refused', async () => {
  const { client } = await deploy([define('echo')]);
  await expect(call(client, 'echo', 'x'.repeat(6_291_456))).rejects.toMatchObject({
    name: 'RequestTooLargeException',
    $metadata: { httpStatusCode: 413 },
  });
});

test('A19: an asynchronous payload over 1 MB is refused', async () => {
  const { client } = await deploy([define('echo')]);
  const send = (bytes: number) =>
    client.send(
      new InvokeCommand({
        FunctionName: 'sallyport-echo',
        InvocationType: 'Event',
        Payload: JSON.stringify('x'.repeat(bytes - 2)),
      }),
    );
  expect((await send(1_048_576)).StatusCode).toBe(202);
  await expect(send(1_048_577)).rejects.toMatchObject({ name: 'RequestTooLargeException' });
});

test('A20: an asynchronous invocation that fails is retried twice under its request id', async () => {
  const { client } = await deploy([define('flaky')]);
  const file = join(await mkdtemp(join(tmpdir(), 'sallyport-lambda-')), 'attempts');
  const answer = await client.send(
    new InvokeCommand({
      FunctionName: 'sallyport-flaky',
      InvocationType: 'Event',
      Payload: JSON.stringify({ file, succeedAt: 99 }),
    }),
  );
  expect(answer.StatusCode).toBe(202);
  const id = answer.$metadata.requestId;
  await vi.waitFor(async () => expect(await readFile(file, 'utf8')).toBe(`${id}\n${id}\n${id}\n`), patience);
});

test.each([
  ['that its function may retry once', { retriesMax: 1 }, 2],
  ['that its function may not retry', { retriesMax: 0 }, 1],
  ['that would be too old by then', { ageMsMax: 0 }, 1],
])('A20: an asynchronous invocation %s is tried no more', async (_, events, tries) => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-lambda-'));
  const file = join(folder, 'tries');
  const { endpoint } = await deploy([define('flaky', { events })]);
  await endpoint.invokeToEnd('sallyport-flaky', JSON.stringify({ file, succeedAt: 9 }));
  expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(tries);
});

test('A20: in the strict mode some asynchronous invocations run late, and some twice', async () => {
  const lateEvents = { every: 2, lateMs: 300 };
  const { client } = await deploy([define('flaky')], { kind: 'strict', lateEvents });
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-lambda-'));
  const invoke = async (name: string): Promise<string | undefined> => {
    const Payload = JSON.stringify({ file: join(folder, name), succeedAt: 1 });
    const command = new InvokeCommand({ FunctionName: 'sallyport-flaky', InvocationType: 'Event', Payload });
    return (await client.send(command)).$metadata.requestId;
  };
  const [late, twice] = [await invoke('late'), await invoke('twice')];
  const attempts = (name: string) => readFile(join(folder, name), 'utf8').catch(() => '');
  await vi.waitFor(async () => expect(await attempts('twice')).toBe(`${twice}\n${twice}\n`), patience);
  await vi.waitFor(async () => expect(await attempts('late')).toBe(`${late}\n`), patience);
});

const readStream = async (client: LambdaClient, fixture: string, event: unknown) => {
  const answer = await client.send(
    new InvokeWithResponseStreamCommand({
      FunctionName: `sallyport-${fixture}`,
      Payload: JSON.stringify(event),
    }),
  );
  return { ...answer, events: answer.EventStream ?? [] };
};

test('A23: a streaming function is read while it runs', async () => {
  const { client } = await deploy([define('streaming')]);
  const file = join(await mkdtemp(join(tmpdir(), 'sallyport-lambda-')), 'go');
  const heard: string[] = [];
  for await (const event of (await readStream(client, 'streaming', { waitFor: file })).events) {
    if (event.PayloadChunk) heard.push(Buffer.from(event.PayloadChunk.Payload ?? []).toString());
    if (event.InvokeComplete) heard.push(`complete ${event.InvokeComplete.ErrorCode ?? ''}`);
    // The function goes on only because its first part was read.
    if (heard.length === 1) await writeFile(file, '');
  }
  expect(heard).toEqual(['first ', 'second', 'complete ']);
});

test('A23: an interrupted stream names its error at the end', async () => {
  const { client } = await deploy([define('streaming')]);
  const codes: unknown[] = [];
  for await (const event of (await readStream(client, 'streaming', { fail: true })).events) {
    if (event.InvokeComplete) codes.push(event.InvokeComplete.ErrorCode, event.InvokeComplete.ErrorDetails);
  }
  expect(codes[0]).toBe('Error');
  expect(codes[1]).toContain('broke in the middle');
});

test('a large stream is complete through the bounded window', async () => {
  const { client } = await deploy([define('streaming')]);
  let bytes = 0;
  for await (const event of (await readStream(client, 'streaming', { megabytes: 8 })).events) {
    bytes += event.PayloadChunk?.Payload?.length ?? 0;
  }
  expect(bytes).toBe(8 * 1024 * 1024 + 12);
});

test('A13: a middy handler streams its status and headers before eight NUL bytes', async () => {
  const { client } = await deploy([define('middy-stream')]);
  let text = '';
  for await (const event of (await readStream(client, 'middy-stream', {})).events) {
    text += Buffer.from(event.PayloadChunk?.Payload ?? []).toString();
  }
  expect(text).toBe(`{"statusCode":201,"headers":{"content-type":"text/plain"}}${'\0'.repeat(8)}made`);
});
