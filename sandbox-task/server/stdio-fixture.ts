/**
 * A test sandbox with programs that are MCP servers over stdio: one of each SDK, and one in plain Python that misbehaves as its
 * first argument says.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { startTestSandbox, type TestSandbox, type ToolResult } from './sandbox-fixture.ts';

/** The tools that the SDK of 2026 and the one before it serve; `serve` differs. */
const tools = `
  const text = (text) => ({ content: [{ type: 'text', text }] });
  let count = 0;
  const late = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const register = (server) => {
    server.registerTool('count', { description: 'Counts its calls.' }, async () => text(String(++count)));
    server.registerTool('env', {}, async () => text(JSON.stringify(process['env']) + process.cwd()));
    server.registerTool('fail', {}, async () => { throw new Error('no luck'); });
    server.registerTool('crash', {}, async () => { console.error('the disk is full'); process.exit(3); });
    server.registerTool('picture', {}, async () => ({ content: [
      { type: 'text', text: 'see' }, { type: 'image', data: 'YWJj', mimeType: 'image/png' },
      { type: 'audio', data: 'YWJj', mimeType: 'audio/wav' } ] }));
    server.registerTool('add', {
      inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: z.object({ sum: z.number() }),
    }, async ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }));
    server.registerTool('late', { inputSchema: z.object({ ms: z.number() }) }, async ({ ms }) => {
      await late(ms);
      return text('late ' + ms);
    });
    server.registerTool('stuck', {}, async () => { for (;;) {} });
    server.registerTool('steps', {}, async (...given) => {
      const { notify, token } = reach(given.at(-1));
      for (let progress = 1; progress <= 3; progress += 1) {
        await notify({ method: 'notifications/progress', params: { progressToken: token, progress, total: 3, message: 'step ' + progress } });
        await late(80);
      }
      return text('done');
    });
    return server;
  };`;
const modernServer = (options: string): string => `
  import { McpServer } from '@modelcontextprotocol/server';
  import { serveStdio } from '@modelcontextprotocol/server/stdio';
  import * as z from 'zod';
  const reach = ({ mcpReq }) => ({ notify: mcpReq.notify, token: mcpReq._meta?.progressToken });
  ${tools}
  serveStdio(() => register(new McpServer({ name: 'modern', version: '1.0.0' })), ${options});`;
const olderServer = `
  import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
  import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
  import * as z from 'zod';
  const reach = ({ sendNotification, _meta }) => ({ notify: sendNotification, token: _meta?.progressToken });
  ${tools}
  await register(new McpServer({ name: 'older', version: '1.0.0' })).connect(new StdioServerTransport());`;

/** One line in, one line out, and bad manners by its first argument. */
const pythonServer = `
import json, os, sys, time
manner = sys.argv[1] if len(sys.argv) > 1 else ''
def say(message): sys.stdout.write(json.dumps({'jsonrpc': '2.0', **message}) + '\\n'); sys.stdout.flush()
asked = []
if manner == 'garbage':
    print('Welcome!'); print('{"half": '); os.write(1, bytes(range(128, 256)) + b'\\n'); print('[]'); print('7')
if manner == 'exit':
    print('cannot open the database', file=sys.stderr); print('password is ' + os.environ.get('SECRET', ''), file=sys.stderr); sys.exit(9)
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get('method'), message.get('id')
    if 'method' not in message: asked.append(message); continue
    if manner == 'silent': continue
    if method == 'initialize' and manner == 'refuse':
        print('bad key ' + os.environ['SECRET']); say({'id': id, 'error': {'code': -32000, 'message': 'bad key ' + os.environ['SECRET']}})
    elif method == 'initialize':
        version = '1999-01-01' if manner == 'ancient' else '2024-11-05'
        if manner == 'wrong-id': id = 77
        say({'id': id, 'result': {'protocolVersion': version, 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'p', 'version': '1'}}})
    elif method == 'tools/list':
        page = int(message['params'].get('cursor', '0'))
        names = ['%s%d' % (tool, page) for tool in ('one', 'two')]
        result = {'tools': [{'name': name, 'inputSchema': {'type': 'object'}} for name in names]}
        if page < 2 or manner == 'endless': result['nextCursor'] = str(page + 1)
        say({'id': id, 'result': result})
    elif method == 'tools/call':
        tool = message['params']['name']
        if tool == 'ask':
            for wish in ('roots/list', 'sampling/createMessage', 'elicitation/create', 'ping'): say({'id': 'w-' + wish, 'method': wish, 'params': {}})
            asked = []
            while len(asked) < 4: asked.append(json.loads(sys.stdin.readline()))
            say({'id': id, 'result': {'content': [{'type': 'text', 'text': json.dumps([a.get('error', {}).get('code', a.get('result')) for a in asked])}]}})
        elif tool == 'long-line':
            for _ in range(100): sys.stdout.write('x' * 1048576)
            sys.stdout.write('\\n'); say({'id': 12345, 'result': {}})
        elif tool == 'flood':
            for n in range(30000): sys.stdout.write('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}\\n' % n)
            say({'id': id, 'result': {'content': [{'type': 'text', 'text': 'flooded'}]}})
        elif tool == 'bomb':
            sys.stdout.write('{"jsonrpc":"2.0","id":%d,"result":{"content":[%s]}}\\n' % (id, ','.join(['[]'] * 2000000))); sys.stdout.flush()
        elif tool == 'deep':
            sys.stdout.write('{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":{"a":%s}}}\\n' % (id, '[' * 90000 + ']' * 90000)); sys.stdout.flush()
        elif tool == 'sleep': time.sleep(message['params']['arguments']['seconds']); say({'id': id, 'result': {'content': []}})
        elif tool == 'big': say({'id': id, 'result': {'content': [{'type': 'text', 'text': 'a' * 3000000 + 'z'}] * 2 + [{'type': 'image', 'mimeType': 'image/png', 'data': 'A' * 4000}] * 10}})
        elif tool == 'pid': say({'id': id, 'result': {'content': [{'type': 'text', 'text': str(os.getpid())}]}})
        elif tool == 'never': kept = [id]
        elif tool == 'taken-back': say({'id': id, 'result': {'content': [{'type': 'text', 'text': json.dumps(kept)}]}})
        elif tool == 'other-id': say({'id': id + 1000, 'result': {'content': []}}); say({'id': id, 'result': {'content': [{'type': 'text', 'text': 'mine'}]}})
        elif tool == 'child':
            pid = os.fork()
            if pid == 0: time.sleep(300); os._exit(0)
            say({'id': id, 'result': {'content': [{'type': 'text', 'text': str(pid)}]}})
        elif tool == 'pictures': say({'id': id, 'result': {'content': [{'type': 'image', 'mimeType': 'image/png', 'data': 'A' * 5000000}]}})
        elif tool == 'noise':
            for n in range(50000): print('noise %d' % n, file=sys.stderr)
            say({'id': id, 'result': {'content': []}})
        else: say({'id': id, 'error': {'code': -32602, 'message': 'Unknown tool: ' + tool}})
    elif method == 'notifications/cancelled': kept.append(message['params'])
    elif method == 'ping': say({'id': id, 'result': {}})
`;

type StdioServer = {
  readonly name: string;
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
};
type Question = {
  readonly tool: string;
  readonly input?: object;
  readonly timeout?: number;
};
export type StdioSandbox = TestSandbox & {
  readonly list: (server: StdioServer, timeout?: number) => Promise<ToolResult>;
  readonly call: (server: StdioServer, question: string | Question) => Promise<ToolResult>;
  /** A call with an id and with progress; the whole answer as text. */
  readonly callAs: (callId: string, server: StdioServer, question: Question) => Promise<string>;
  /** The output of a bash line. */
  readonly run: (command: string) => Promise<string>;
  readonly logTexts: () => Promise<readonly string[]>;
  /** The bundled program under its own name, or under `node` with a configuration of its own. */
  readonly node: (file: string, only?: string) => StdioServer;
  readonly python: (manner?: string, only?: string) => StdioServer;
};

export const startStdioSandbox = async (): Promise<StdioSandbox> => {
  const sandbox = await startTestSandbox();
  const { workspace } = sandbox;
  await Promise.all([
    bundle(join(workspace, 'modern.mjs'), modernServer('{}')),
    bundle(join(workspace, 'modern-only.mjs'), modernServer("{ legacy: 'reject' }")),
    bundle(join(workspace, 'older.mjs'), olderServer),
    writeFile(join(workspace, 'plain.py'), pythonServer),
  ]);
  sandbox.own();
  return {
    ...sandbox,
    list: (server, timeout = 20) => sandbox.callTool('mcp_list', { server, timeout }),
    call: (server, question) => {
      const { tool, input = {}, timeout = 20 } = typeof question === 'string' ? { tool: question } : question;
      return sandbox.callTool('mcp_call', { server, tool, arguments: input, timeout });
    },
    callAs: async (callId, server, { tool, input = {}, timeout = 20 }) => {
      const params = {
        name: 'mcp_call',
        arguments: { server, tool, arguments: input, timeout },
        _meta: { 'dev.sallyport/callId': callId, progressToken: 1 },
      };
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
      return (await sandbox.ask('POST', '/mcp', { headers, body })).body.toString();
    },
    run: async (command) =>
      String((await sandbox.callTool('execute_command', { command })).structuredContent?.['stdout']),
    logTexts: async () =>
      JSON.parse((await sandbox.ask('GET', '/logs')).body.toString()).lines.map(
        ({ text }: { readonly text: string }) => text,
      ),
    // A changed configuration ends the MCP server of the previous test: the pool is small.
    node: (file, only) => ({
      name: only === undefined ? file.replace('.mjs', '') : 'node',
      command: sandbox.nodePath,
      args: [join(workspace, file)],
      ...(only === undefined ? {} : { env: { ONLY: only } }),
    }),
    python: (manner = '', only = '') => ({
      name: 'python',
      command: 'python3',
      args: [join(workspace, 'plain.py'), manner, only],
    }),
  };
};

const bundle = async (outfile: string, contents: string): Promise<void> => {
  await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'js' },
    outfile,
    ...{ bundle: true, platform: 'node', target: 'node24', format: 'esm', logLevel: 'error' },
    mainFields: ['module', 'main'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
};

export const textOf = ({ content }: ToolResult): string => content.map(({ text }) => text).join('|');

/** The type and the message of a failure. */
export const failureOf = (result: ToolResult): readonly [string, string] => {
  if (result.isError !== true) throw new Error(`no failure: ${JSON.stringify(result)}`);
  const { type, message } = JSON.parse(textOf(result)).error;
  return [type, message];
};

/** The fields beside the blocks, without the time. */
export const fieldsOf = ({ structuredContent = {} }: ToolResult): object => {
  const { execution_time_ms: _, ...rest } = structuredContent;
  return rest;
};
