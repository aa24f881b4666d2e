/**
 * A registered MCP server in the simulated world, outside of every sandbox: it performs what it is asked each time it
 * is asked, knows no keys, and is slow, away or silent as the world's faults have it.
 */
import { makeMcpServerStore } from '#shared/adapters/aws/dynamo/mcp-servers.ts';
import type { McpServer } from '#shared/domain/mcp/server.ts';
import { defaultProject } from '#shared/domain/principal.ts';
import { AppError } from '#shared/errors.ts';
import type { RemoteCall, RemoteMcp } from '#shared/ports/mcp-servers.ts';
import type { ToolOutcome } from '#shared/ports/sandbox.ts';
import type { Invocation } from './invocation.ts';
import { type MemoryTable, tableOver } from './memory-table.ts';
import { startOfTime } from './world.ts';

export const remoteTool = 'search';
const tools = [{ name: remoteTool, inputSchema: { type: 'object' } }];
const performMsMax = 40_000;

const registered: McpServer = {
  project: defaultProject,
  name: 'library',
  config: { transport: 'http', url: 'https://library.example/mcp' },
  isEnabled: true,
  health: { status: 'healthy', consecutiveFailures: 0, attempts: 0, lastCheck: startOfTime },
  tools,
  createdAt: startOfTime,
  version: 0,
};

export const register = async (table: MemoryTable): Promise<void> => {
  const store = makeMcpServerStore(tableOver(async (command) => table.execute(command).output));
  await store.add(registered, { serversMax: 1 });
};

/** Result of a performed call. */
export const foundText = (id: string): string => `found ${id}`;

export const remoteFor = (
  invocation: Invocation,
  { onPerform }: { readonly onPerform: (id: string) => void },
): RemoteMcp => ({
  ready: () => Promise.resolve(),
  listTools: () => invocation.call('lists remote tools', () => tools, { fault: away }),
  call: (call) => new Promise((resolve) => request(invocation, call, { onPerform, resolve })),
});

const away = (what: string): AppError => new AppError('mcp_server_unavailable', what);

type Answering = {
  readonly onPerform: (id: string) => void;
  readonly resolve: (outcome: ToolOutcome) => void;
};

const request = (
  invocation: Invocation,
  { args, signal }: RemoteCall,
  { onPerform, resolve }: Answering,
): void => {
  const { sim } = invocation;
  const id = String(args['id']);
  if (!invocation.isAlive) return;
  const hear = (outcome: ToolOutcome): void =>
    sim.after(sim.latency(), () =>
      invocation.hear(() => {
        if (sim.fires('death')) return invocation.die('while a remote call answers');
        sim.wake();
        resolve(outcome);
      }),
    );
  signal?.addEventListener('abort', () => hear({ status: 'lost', message: 'aborted' }), { once: true });
  sim.after(sim.latency(), () => {
    if (sim.fires('linkDown'))
      return hear({ status: 'failed', code: 'mcp_server_unavailable', message: 'no route' });
    onPerform(id);
    sim.after(sim.random.spread(20, performMsMax), () =>
      hear(
        sim.fires('linkDown')
          ? { status: 'lost', message: 'the connection broke' }
          : { status: 'finished', content: [{ type: 'text', text: foundText(id) }] },
      ),
    );
  });
};
