/** Ends of one call: its result, whole or cut with a file beside it, or the reason why there is none. */

import { describe, expect, test } from 'vitest';
import type { ApprovalStore } from '#shared/ports/approval-store.ts';
import type { McpServerStore, RemoteMcp } from '#shared/ports/mcp-servers.ts';
import type { ProjectSecrets } from '#shared/ports/projects.ts';
import type { SlotStore } from '#shared/ports/slots.ts';
import type { WorkspaceStore } from '#shared/ports/workspace-store.ts';
import { fake } from '../../../../tests/fake.ts';
import type { ToolContent } from '../../../domain/event-log.ts';
import type { CallId, OwnerId, ProjectId, WorkspaceId } from '../../../domain/ids.ts';
import { cutLongestText, type JsonObject } from '../../../domain/json.ts';
import { clientIdCharactersMax, eventBytesMax } from '../../../domain/limits.ts';
import type { McpServer } from '../../../domain/mcp/server.ts';
import { argsNotJson } from '../../../domain/requested-call.ts';
import type { Session } from '../../../domain/session.ts';
import { utf8Bytes } from '../../../domain/text.ts';
import type { ToolResult } from '../../../domain/turn/turn.ts';
import type { ConnectionStore, Sockets } from '../../../ports/connections.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import type { RemoteCall } from '../../../ports/mcp-servers.ts';
import type {
  AskedOutcome,
  LinkRequest,
  SandboxCall,
  SandboxTools,
  ToolOutcome,
} from '../../../ports/sandbox.ts';
import type { LoopDeps } from '../../deps.ts';
import { type OneCall, runCall, unknownOutcome } from './run-call-once.ts';

const sandbox = {
  workspaceId: 'w' as WorkspaceId,
  generation: 7,
  address: 'http://127.0.0.1:1',
  flavor: 'micro',
} as const;

const workspace = {
  id: 'w' as WorkspaceId,
  owner: 'o' as OwnerId,
  project: 'p' as ProjectId,
  createdAt: 0,
  users: [],
};

const registered = (change: Partial<McpServer> = {}): McpServer => ({
  project: workspace.project,
  name: 'docs',
  config: {
    transport: 'http',
    url: 'https://docs.example/mcp',
    headers: { authorization: `Bearer \${KEY}` },
  },
  isEnabled: true,
  health: { status: 'healthy', consecutiveFailures: 0, attempts: 0, lastCheck: 1 },
  createdAt: 0,
  version: 1,
  ...change,
});

type World = {
  readonly outcome: () => AskedOutcome;
  readonly server?: McpServer | undefined;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly put?: () => Promise<Response>;
};

const open = ({
  outcome,
  server,
  secrets = { KEY: 'of the project' },
  put = () => Promise.resolve(new Response(null, { status: 201 })),
}: World) => {
  const asked: SandboxCall[] = [];
  const sent: RemoteCall[] = [];
  const noted: McpServer[] = [];
  const puts: LinkRequest[] = [];
  const counted: string[] = [];
  const warned: string[] = [];
  let now = 1000;
  const ask = async (call: SandboxCall): Promise<AskedOutcome> => {
    asked.push(call);
    now += 25;
    return outcome();
  };
  const ports = fake<LoopDeps>({
    tools: fake<SandboxTools>({ callFor: ask, call: async (call) => overOnly(await ask(call)) }),
    workspaces: fake<WorkspaceStore>({ get: () => Promise.resolve(undefined) }),
    mcpServers: fake<McpServerStore>({
      get: () => Promise.resolve(server),
      replace: (next) => {
        noted.push(next);
        return Promise.resolve(next);
      },
    }),
    secrets: fake<ProjectSecrets>({ read: () => Promise.resolve(secrets) }),
    remoteMcp: fake<RemoteMcp>({
      call: (call) => {
        sent.push(call);
        return Promise.resolve(overOnly(outcome()));
      },
    }),
    mcpTimes: { checkMs: 60_000 },
    slots: fake<SlotStore>({
      read: (holder) => Promise.resolve({ holder, counted: 0, version: 0, taken: [] }),
    }),
    eventLog: fake<EventLog>({ append: () => Promise.resolve([]) }),
    // The project has no session that could be told.
    connections: fake<ConnectionStore>({}),
    approvals: fake<ApprovalStore>({ count: () => Promise.resolve(0) }),
    sockets: fake<Sockets>({}),
    link: {
      fetch: (_sandbox, request) => {
        puts.push(request);
        return put();
      },
    },
    telemetry: {
      info: () => undefined,
      warn: (message) => warned.push(message),
      error: () => undefined,
      count: (name) => counted.push(name),
      duration: (name) => counted.push(name),
    },
    world: { now: () => now, uuid: () => '', sha256: () => '', sleep: () => Promise.resolve() },
  });
  return { ports, asked, sent, noted, puts, counted, warned };
};

const overOnly = (outcome: AskedOutcome): ToolOutcome => {
  if (outcome.status === 'running') throw new Error('it still runs');
  return outcome;
};

/** A call that ends. */
const resultOf = async (...given: Parameters<typeof runCall>): Promise<ToolResult> => {
  const step = await runCall(...given);
  if (step.type === 'call-detached' || step.type === 'call-unsent') throw new Error(`it is ${step.type}`);
  return step;
};

const callOf = (effect: Partial<OneCall['effect']> = {}): OneCall => ({
  effect: {
    type: 'run-tool',
    key: 'tool:turn:1:call/1',
    callId: 'c1' as CallId,
    name: 'execute_command',
    args: { command: 'ls' },
    ...effect,
  },
  session: { id: 's', project: 'p' } as Session,
  isAllowed: true,
  lazySandbox: { get: () => Promise.resolve({ sandbox, workspace }) },
  onProgress: () => undefined,
  printed: () => Promise.resolve(''),
  signal: new AbortController().signal,
  waitMs: 60_000,
  secondsMax: 600,
});

const text = (...texts: readonly string[]): ToolOutcome => ({
  status: 'finished',
  content: texts.map((one) => ({ type: 'text', text: one })),
});
const said = (content: readonly ToolContent[]): readonly unknown[] => content.map((block) => block['text']);

describe('a call', () => {
  test('is sent under its key, and its result is returned whole', async () => {
    const { ports, asked, puts, counted } = open({ outcome: () => text('one', 'two') });
    expect(await runCall(ports, callOf())).toEqual({
      type: 'call-finished',
      at: 1025,
      callId: 'c1',
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
      text: 'one\ntwo',
      images: [],
      durationMs: 25,
    });
    expect(asked).toMatchObject([{ sandbox, callKey: 'tool:turn:1:call/1', name: 'execute_command' }]);
    expect([puts, counted]).toEqual([[], ['ToolCallMs']]);
  });

  test('that the tool refused reports it', async () => {
    const { ports, counted } = open({
      outcome: () => ({ status: 'failed', code: 'execution_timeout', message: 'too long' }),
    });
    expect(await runCall(ports, callOf())).toEqual({
      type: 'call-failed',
      at: 1025,
      callId: 'c1',
      code: 'execution_timeout',
      message: 'too long',
    });
    expect(counted).toEqual(['ToolCallMs', 'ToolCallsFailed']);
  });

  test('of an unknown tool is not sent', async () => {
    const { ports, asked } = open({ outcome: () => text('') });
    expect(await runCall(ports, callOf({ name: 'fly' }))).toMatchObject({
      code: 'invalid_request',
      message: 'there is no tool fly',
    });
    expect(asked).toEqual([]);
  });

  test('of a tool that the session may not use is not sent', async () => {
    const { ports, asked } = open({ outcome: () => text('') });
    const ended = await resultOf(ports, { ...callOf(), isAllowed: false });
    expect(ended).toMatchObject({ code: 'invalid_request', message: 'there is no tool execute_command' });
    expect(asked).toEqual([]);
  });

  test('that started in another sandbox is never run again', async () => {
    const { ports, asked } = open({ outcome: () => text('') });
    expect(await runCall(ports, callOf({ generation: 6 }))).toMatchObject({ code: unknownOutcome.code });
    expect(asked).toEqual([]);
    const same = open({ outcome: () => text('first result') });
    expect(await runCall(same.ports, callOf({ generation: 7 }))).toMatchObject({ text: 'first result' });
  });

  test('whose sandbox was lost tells what it had printed', async () => {
    const { ports } = open({ outcome: () => ({ status: 'lost', message: 'broken' }) });
    const step = await runCall(ports, { ...callOf(), printed: () => Promise.resolve('one\n') });
    expect(step).toMatchObject({
      code: unknownOutcome.code,
      message: `${unknownOutcome.message}; it had printed:\none\n`,
    });
  });

  test('of which no byte was sent was never started; one that an earlier holder began has an unknown outcome', async () => {
    const outcome = (): AskedOutcome => ({ status: 'lost', message: 'away', isUnsent: true });
    const { ports, counted } = open({ outcome });
    const unsent = { type: 'call-unsent', at: 1025, callId: 'c1', generation: 7 };
    expect(await runCall(ports, callOf())).toEqual(unsent);
    expect(counted).toEqual([]);
    expect(await runCall(ports, callOf({ generation: 7 }))).toMatchObject({ code: unknownOutcome.code });
  });

  test('of which one attempt may have been sent has an unknown outcome', async () => {
    const heard: AskedOutcome[] = [
      { status: 'lost', message: 'broken' },
      { status: 'lost', message: 'away', isUnsent: true },
    ];
    const { ports } = open({ outcome: () => heard.shift() ?? text('') });
    const workspaces = {
      get: () =>
        Promise.resolve(
          heard.length === 1 ? { ...workspace, sandbox: { ...sandbox, state: 'ready' } } : undefined,
        ),
    };
    const step = await runCall({ ...ports, workspaces: fake<WorkspaceStore>(workspaces as never) }, callOf());
    expect(step).toMatchObject({ type: 'call-failed', code: unknownOutcome.code });
    expect(heard).toEqual([]);
  });

  test.each([
    [undefined, '{"path":', 'the arguments are not valid JSON: {"path":'],
    [
      { kind: 'remote', server: 'docs', tool: 'search' } as const,
      '[1]',
      'the arguments are not a JSON object: [1]',
    ],
  ])('with arguments that are no JSON object runs nowhere (%j)', async (...[route, given, message]) => {
    const { ports, asked, sent } = open({ outcome: () => text(''), server: registered() });
    const effect = { args: argsNotJson(given), ...(route === undefined ? {} : { route }) };
    expect(await runCall(ports, callOf(effect))).toMatchObject({ code: 'invalid_request', message });
    expect([asked, sent]).toEqual([[], []]);
  });

  test('that runs on when nobody waits any longer is detached until its own timeout and a minute', async () => {
    const { ports, asked, counted } = open({ outcome: () => ({ status: 'running' }) });
    const args = { command: 'make', timeout: 600 };
    expect(await runCall(ports, { ...callOf({ args }), waitMs: 7 })).toEqual({
      type: 'call-detached',
      at: 1025,
      callId: 'c1',
      wait: { id: 'tool:turn:1:call/1', since: 1000, endsBy: 1025 + 660_000 },
    });
    expect([asked, counted]).toMatchObject([[{ waitMs: 7 }], []]);
  });

  test.each([
    [{ timeout: 600 }, { timeout: 600 }],
    [{}, {}],
    [{ timeout: null }, { timeout: 30 }],
    [{ timeout: 'long' }, { timeout: 'long' }],
  ])('has its timeout within the limit of the deployment: %j', async (given, sent) => {
    const { ports, asked } = open({ outcome: () => text('') });
    await runCall(ports, callOf({ args: { command: 'ls', ...given } }));
    expect(asked.map(({ args }) => args)).toEqual([{ command: 'ls', ...sent }]);
  });

  test('with a longer timeout is refused before it starts, and not once it runs', async () => {
    const { ports, asked } = open({ outcome: () => text('') });
    const args = { command: 'ls', timeout: 601 };
    expect(await runCall(ports, callOf({ args }))).toMatchObject({
      code: 'invalid_request',
      message: 'timeout: at most 600 seconds in this deployment',
    });
    expect(asked).toEqual([]);
    expect(await runCall(ports, callOf({ args, generation: 7 }))).toMatchObject({ type: 'call-finished' });
  });

  test('whose sandbox no longer exists has an unknown outcome', async () => {
    const { ports } = open({ outcome: () => ({ status: 'lost', message: 'no route' }) });
    expect(await runCall(ports, callOf())).toMatchObject({ type: 'call-failed', code: unknownOutcome.code });
  });
});

describe('a call of a registered server on the network', () => {
  const remote = { kind: 'remote', server: 'docs', tool: 'search' } as const;
  const search = { name: 'search', args: { text: 'x' }, route: remote };

  test('is sent with the secrets of the project, and not into the sandbox', async () => {
    const { ports, asked, sent, noted } = open({ outcome: () => text('found'), server: registered() });
    expect(await runCall(ports, callOf(search))).toMatchObject({ type: 'call-finished', text: 'found' });
    expect(sent).toMatchObject([
      {
        target: {
          url: 'https://docs.example/mcp',
          headers: { authorization: 'Bearer of the project' },
          timeoutMs: 30_000,
        },
        tool: 'search',
        args: { text: 'x' },
      },
    ]);
    expect([asked, noted]).toEqual([[], []]);
  });

  test('that was started before is never run again', async () => {
    const { ports, sent } = open({ outcome: () => text('found'), server: registered() });
    const again = callOf({ ...search, generation: 0 });
    expect(await runCall(ports, again)).toMatchObject({ code: 'tool_outcome_unknown' });
    expect(sent).toEqual([]);
  });

  test('with a broken connection has an unknown outcome, which counts as a failure of the server', async () => {
    const { ports, noted } = open({
      outcome: () => ({ status: 'lost', message: 'broken' }),
      server: registered(),
    });
    const ended = await resultOf(ports, callOf(search));
    expect(ended).toMatchObject({
      code: 'tool_outcome_unknown',
      message: expect.stringContaining('not run again'),
    });
    expect(noted).toMatchObject([{ name: 'docs', health: { status: 'unhealthy', consecutiveFailures: 1 } }]);
  });

  test('never shows a secret that the server repeats', async () => {
    const outcome = { status: 'failed', code: 'internal_error', message: 'bad key: of the project' } as const;
    const { ports } = open({ outcome: () => outcome, server: registered() });
    const ended = await resultOf(ports, callOf(search));
    expect(ended).toMatchObject({ message: expect.stringMatching(/^bad key: [^o]/) });
  });

  const away = { status: 'disconnected', consecutiveFailures: 8, attempts: 5, error: 'refused' } as const;
  test.each([
    {
      why: 'removed',
      world: {},
      ended: { code: 'mcp_server_not_found', message: /^the MCP server docs is no longer registered$/ },
    },
    {
      why: 'disabled',
      world: { server: registered({ isEnabled: false }) },
      ended: { code: 'mcp_server_unavailable', message: /docs is not connected: it is disabled$/ },
    },
    {
      why: 'given up',
      world: { server: registered({ health: away }) },
      ended: { code: 'mcp_server_unavailable', message: /docs is not connected: refused$/ },
    },
    {
      why: 'moved into sandboxes',
      world: { server: registered({ config: { transport: 'stdio', command: 'docs' } }) },
      ended: { code: 'mcp_server_unavailable', message: /its transport was changed to stdio$/ },
    },
    {
      why: 'left without its secret',
      world: { server: registered(), secrets: {} },
      ended: { code: 'invalid_request', message: /no secret named KEY/ },
    },
  ])('that was $why is not sent', async ({ world, ended }) => {
    const { ports, sent } = open({ outcome: () => text(''), ...world });
    const { code, message } = ended;
    expect(await runCall(ports, callOf(search))).toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect(sent).toEqual([]);
  });
});

describe('a call of a registered server in the sandbox', () => {
  const config = { transport: 'stdio', command: 'notes', env: { TOKEN: `\${KEY}` }, timeout: 4500 } as const;
  const note = {
    name: 'note',
    args: { text: 'x' },
    route: { kind: 'stdio', server: 'docs', tool: 'note' },
  } as const;

  test('is made by the sandbox, under the key of the call', async () => {
    const { ports, asked, sent } = open({ outcome: () => text('noted'), server: registered({ config }) });
    expect(await runCall(ports, callOf(note))).toMatchObject({ type: 'call-finished', text: 'noted' });
    expect(asked).toMatchObject([
      {
        callKey: 'tool:turn:1:call/1',
        name: 'mcp_call',
        args: {
          server: { name: 'docs', command: 'notes', args: [], env: { TOKEN: 'of the project' } },
          tool: 'note',
          arguments: { text: 'x' },
          timeout: 5,
        },
      },
    ]);
    expect(sent).toEqual([]);
  });

  test('that reports a failure has failed, with its own message', async () => {
    const outcome = { ...text('no such book'), structured: { is_error: true } } as ToolOutcome;
    const { ports } = open({ outcome: () => outcome, server: registered({ config }) });
    expect(await runCall(ports, callOf(note))).toMatchObject({
      type: 'call-failed',
      message: 'no such book',
    });
  });

  test.each([
    ['whose server died counts', { structured: { server_died: true } }, 1],
    ['that outlived its result does not count', {}, 0],
  ])('%s as a failure of the server', async (...[, more, failures]) => {
    const unknown = {
      status: 'failed',
      code: 'tool_outcome_unknown',
      message: 'exit code 7',
      ...more,
    } as const;
    const { ports, noted } = open({ outcome: () => unknown, server: registered({ config }) });
    expect(await runCall(ports, callOf(note))).toMatchObject({
      code: 'tool_outcome_unknown',
      message: 'exit code 7',
    });
    expect(noted.map(({ health }) => health.consecutiveFailures)).toEqual(failures === 0 ? [] : [failures]);
  });

  test('whose sandbox no longer exists has an unknown outcome, which is no failure of the server', async () => {
    const { ports, noted } = open({
      outcome: () => ({ status: 'lost', message: '' }),
      server: registered({ config }),
    });
    expect(await runCall(ports, callOf(note))).toMatchObject({ code: 'tool_outcome_unknown' });
    expect(noted).toEqual([]);
  });
});

describe('a long result', () => {
  const long = `${'a'.repeat(60_000)}END`;
  const path = '.sallyport/outputs/tool-turn-1-call-1.txt';

  test('is cut for the model, with the path of the whole', async () => {
    const { ports, puts } = open({ outcome: () => text(long) });
    const ended = await resultOf(ports, callOf());
    if (ended.type !== 'call-finished') throw new Error(ended.message);
    expect(ended.text.length).toBeLessThan(50_200);
    expect(ended.text).toContain('characters left out');
    expect(ended.text.slice(-150)).toMatch(/END\n\[The result was too long and is cut here; the whole is in/);
    expect(ended.text).toContain(`/workspace/${path}.]`);
    expect(ended.content).toEqual([{ type: 'text', text: long }]);
    expect(puts.map(({ method, path: where }) => [method, where])).toEqual([['PUT', `/files/${path}`]]);
    expect(new TextDecoder().decode(puts[0]?.body as Uint8Array)).toBe(long);
  });

  test('within the model’s limit stays unchanged', async () => {
    const { ports, puts } = open({ outcome: () => text('a'.repeat(50_000)) });
    expect(await runCall(ports, callOf())).toMatchObject({ text: 'a'.repeat(50_000) });
    expect(puts).toEqual([]);
  });

  test('over four million bytes is stored up to the limit of a file', async () => {
    const { ports, puts } = open({ outcome: () => text('é'.repeat(3_000_000)) });
    await runCall(ports, callOf());
    expect(puts[0]?.body).toHaveLength(4 * 1_048_576);
  });

  test.each([
    ['letters', 'a'.repeat(250_000)],
    ['characters that JSON writes in six bytes', '\u0001'.repeat(42_000)],
  ])('of %s that fits into an event is in the log unchanged', async (_what, whole) => {
    const { ports } = open({ outcome: () => text(whole) });
    const ended = await resultOf(ports, callOf());
    if (ended.type !== 'call-finished') throw new Error(ended.message);
    expect(ended.content).toEqual([{ type: 'text', text: whole }]);
    const ids = { callId: 'i'.repeat(clientIdCharactersMax), name: 'n'.repeat(clientIdCharactersMax) };
    const data = { ...ids, content: ended.content, durationMs: 300_000 } as JsonObject;
    expect(cutLongestText(data, eventBytesMax)).toBe(data);
  });

  test.each([
    ['letters', 'a'.repeat(300_000)],
    ['letters of three bytes', '€'.repeat(90_000)],
    ['pairs', '\u{1f600}'.repeat(70_000)],
    ['characters that JSON writes in six bytes', '\u0001'.repeat(90_000)],
  ])('of %s is bounded in the log in bytes, with a note', async (_what, heavy) => {
    const { ports } = open({ outcome: () => text(heavy) });
    const ended = await resultOf(ports, callOf());
    if (ended.type !== 'call-finished') throw new Error(ended.message);
    const bytes = utf8Bytes(JSON.stringify(ended.content));
    expect(bytes).toBeLessThan(135 * 1024);
    expect(bytes).toBeGreaterThan(40 * 1024);
    expect(ended.content[0]).toMatchObject({ type: 'text', truncated: true });
    expect(said(ended.content).at(-1)).toBe(
      `[The result was too long and is cut here; the whole is in /workspace/${path}.]`,
    );
    expect(utf8Bytes(JSON.stringify(ended.text))).toBeLessThan(380 * 1024);
  });

  test('an image reaches the model although the log has no room for it, and is no reason for a file', async () => {
    const data = `iVBORw0KGgo${'A'.repeat(300_000)}`;
    const image = { type: 'image', data, mimeType: 'image/png' };
    const { ports } = open({
      outcome: () => ({ status: 'finished', content: [{ type: 'text', text: 'hello' }, image] }),
    });
    const ended = await resultOf(ports, callOf());
    if (ended.type !== 'call-finished') throw new Error(ended.message);
    expect(ended.text).toBe('hello\n[image]');
    expect(ended.images).toEqual([{ mimeType: 'image/png', data }]);
    expect(utf8Bytes(JSON.stringify(ended.content))).toBeLessThan(250 * 1024);
  });

  test('in many blocks shares the room, and a picture that does not fit is named', async () => {
    const image = { type: 'image', data: 'i'.repeat(300_000), mimeType: 'image/png' };
    const small = { type: 'image', data: 'i', mimeType: 'image/png' };
    const { ports } = open({
      outcome: () => ({ status: 'finished', content: [{ type: 'text', text: 'hello' }, image, small] }),
    });
    const ended = await resultOf(ports, callOf());
    if (ended.type !== 'call-finished') throw new Error(ended.message);
    expect(ended.content.slice(0, 3)).toEqual([
      { type: 'text', text: 'hello', truncated: true },
      { type: 'text', text: '[image: too large to show]' },
      small,
    ]);
    expect(ended.text).toMatch(/^hello\n\[image\]\n\[image\]\n\[An image is not shown: it is no PNG/);
    expect(ended.images).toEqual([]);
    const crowd = open({ outcome: () => text(...Array.from({ length: 50_000 }, () => 'x')) });
    const cut = await resultOf(crowd.ports, callOf());
    if (cut.type !== 'call-finished') throw new Error(cut.message);
    expect(cut.content).toHaveLength(101);
  });

  test.each([
    ['refused', () => Promise.resolve(new Response('full', { status: 507 })), []],
    ['not reached', () => Promise.reject(new Error('no route')), ['a long result was not stored']],
  ])('whose file was %s is cut all the same, with a note', async (_what, put, warnings) => {
    const { ports, warned } = open({ outcome: () => text(long), put });
    const ended = await resultOf(ports, callOf());
    expect(ended.type === 'call-finished' && ended.text.slice(-74)).toBe(
      '[The result was too long and is cut here; the whole could not be stored.]'.padStart(74, '\n'),
    );
    expect(warned).toEqual(warnings);
  });
});
