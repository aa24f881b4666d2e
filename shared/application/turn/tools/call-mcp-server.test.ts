/** Results of registered MCP servers as the turn takes them: what a server says without text, and secrets that it repeats (R6). */
import { describe, expect, test } from 'vitest';
import { fake } from '../../../../tests/fake.ts';
import type { ProjectId } from '../../../domain/ids.ts';
import type { McpServer, McpServerConfig } from '../../../domain/mcp/server.ts';
import type { RemoteMcp, RemoteOutcome } from '../../../ports/mcp-servers.ts';
import type { ToolOutcome, ToolProgress } from '../../../ports/sandbox.ts';
import type { LoopDeps } from '../../deps.ts';
import { callRemoteServer, callStdioServer, type RegisteredCall } from './call-mcp-server.ts';

const secret = 'sk-live-0123456789';
// biome-ignore lint/suspicious/noTemplateCurlyInString: what a user writes; the project's secret comes in its place
const named = '${KEY}';
const remote: McpServerConfig = {
  ...{ transport: 'http', url: 'https://mcp.example.org' },
  headers: { authorization: `Bearer ${named}` },
};
const stdio: McpServerConfig = { transport: 'stdio', command: 'server', env: { KEY: named } };
const text = (words: string) => ({ type: 'text', text: words }) as const;

const play = async (
  config: McpServerConfig,
  outcome: RemoteOutcome,
  progress: readonly ToolProgress[] = [],
) => {
  const heard: ToolProgress[] = [];
  const written: McpServer[] = [];
  const server = fake<McpServer>({
    ...{ project: 'p' as ProjectId, name: 'notes', config, isEnabled: true },
    health: { status: 'healthy', consecutiveFailures: 0, attempts: 0 },
  });
  const ports = fake<LoopDeps>({
    mcpServers: fake<LoopDeps['mcpServers']>({
      get: async () => server,
      replace: async (changed) => {
        written.push(changed);
        return undefined;
      },
    }),
    secrets: fake<LoopDeps['secrets']>({ read: async () => ({ KEY: secret }) }),
    remoteMcp: fake<RemoteMcp>({
      call: async ({ onProgress }) => {
        for (const one of progress) onProgress(one);
        return outcome;
      },
    }),
    world: fake<LoopDeps['world']>({ now: () => 1 }),
    mcpTimes: fake<LoopDeps['mcpTimes']>({ checkMs: 1000 }),
  });
  const call: RegisteredCall = {
    ...{ project: 'p' as ProjectId, args: {}, signal: new AbortController().signal },
    route: { kind: config.transport === 'stdio' ? 'stdio' : 'remote', server: 'notes', tool: 'find' },
    onProgress: (one) => void heard.push(one),
  };
  const ended =
    config.transport === 'stdio'
      ? await callStdioServer(ports, call, async () => outcome)
      : await callRemoteServer(ports, call);
  return { ended, heard, written };
};

test('the status with which a server refuses is remembered with its health, and is no part of the call', async () => {
  const refusal = { status: 'failed', code: 'mcp_server_unavailable', message: 'it refused' } as const;
  const { ended, written } = await play(remote, { ...refusal, httpStatus: 401 });
  expect(ended).toEqual(refusal);
  expect(written.map(({ health }) => health)).toEqual([
    expect.objectContaining({ status: 'unhealthy', error: 'it refused', httpStatus: 401 }),
  ]);
});

describe('a result without text', () => {
  test('of a program of the sandbox is what it says in its structured content', async () => {
    const structured = { is_error: false, execution_time_ms: 3, structured: { sum: 5 } };
    const { ended } = await play(stdio, { status: 'finished', content: [], structured });
    expect(ended).toMatchObject({ status: 'finished', content: [text('{"sum":5}')] });
  });

  test('of a failure, too', async () => {
    const structured = { is_error: true, structured: { reason: 'no such note' } };
    const { ended } = await play(stdio, { status: 'finished', content: [], structured });
    expect(ended).toEqual({ status: 'failed', code: 'tool_failed', message: '{"reason":"no such note"}' });
  });

  test('stays empty where there is neither', async () => {
    const { ended } = await play(stdio, { status: 'finished', content: [], structured: { is_error: false } });
    expect(ended).toMatchObject({ content: [] });
  });
});

describe('a secret that a server repeats', () => {
  test('is in no text of its result, nor in its progress', async () => {
    const finished: ToolOutcome = {
      status: 'finished',
      content: [text(`you sent Bearer ${secret}`), { type: 'image', data: 'AAEC', mimeType: 'image/png' }],
      structured: { headers: [{ authorization: `Bearer ${secret}` }], count: 1 },
    };
    const said: ToolProgress = { stream: 'stdout', offset: 0, text: `with ${secret}\n` };
    const next: ToolProgress = { stream: 'stdout', offset: said.text.length, text: 'done\n' };
    const { ended, heard } = await play(remote, finished, [said, next]);
    expect(ended).toEqual({
      status: 'finished',
      content: [text('you sent Bearer ***'), { type: 'image', data: 'AAEC', mimeType: 'image/png' }],
      structured: { headers: [{ authorization: 'Bearer ***' }], count: 1 },
    });
    expect(heard).toEqual([
      { ...said, text: 'with ***\n' },
      { ...next, offset: 'with ***\n'.length },
    ]);
  });

  test('is none to a program of the sandbox, which all code there can read', async () => {
    const finished: ToolOutcome = { status: 'finished', content: [text(secret)] };
    expect((await play(stdio, finished)).ended).toEqual(finished);
  });
});
