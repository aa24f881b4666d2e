/**
 * `sallyport-client`, on the PATH of a sandbox: the platform for its programs, over the relay's socket.
 *
 * Without arguments it is an MCP server over stdio. For scripts each method is a command that prints its result as one line of JSON;
 * a refusal is one sentence on stderr and exit code 1, a command that cannot be read exit code 2.
 */
import { parseArgs } from 'node:util';
import { serveMcp } from './mcp-server.ts';
import { openRelayClient, RelayError } from './relay-client.ts';

const usage = `usage: sallyport-client                              an MCP server over stdio
       sallyport-client tools                        the tools of the platform
       sallyport-client call <tool> [<json>]         calls one of them
       sallyport-client message <text> [--session <id>] [--wait] [--approvals <mode>] [--model <name>]
                                     [--workspace shared|own] [--max-cost-usd <usd>] [--max-seconds <n>]
                                     [--max-total-tokens <n>] [--max-tool-calls <n>]
                                     [--max-sandbox-seconds <n>] [--max-egress-bytes <n>]
       sallyport-client events [<session>] [--since <index>] [--children]
       sallyport-client caller-tool <name> [<json>]  calls a tool of the session's client`;

class UsageError extends Error {}

type Question = { readonly method: string; readonly params: object };

/** The part of its budget that a new session is given: each is a number, by the name of its argument. */
const limits = {
  'max-cost-usd': { type: 'string' },
  'max-seconds': { type: 'string' },
  'max-total-tokens': { type: 'string' },
  'max-tool-calls': { type: 'string' },
  'max-sandbox-seconds': { type: 'string' },
  'max-egress-bytes': { type: 'string' },
} as const;

const options = {
  ...limits,
  session: { type: 'string' },
  wait: { type: 'boolean' },
  approvals: { type: 'string' },
  model: { type: 'string' },
  workspace: { type: 'string' },
  since: { type: 'string' },
  children: { type: 'boolean' },
} as const;

const questionOf = (args: readonly string[]): Question => {
  const { positionals, values } = parse(args);
  const [command = '', first, second] = positionals;
  switch (command) {
    case 'tools':
      return { method: 'platform_tools', params: {} };
    case 'call':
      return { method: 'platform_call_tool', params: { name: given(first), arguments: jsonOf(second) } };
    case 'caller-tool':
      return { method: 'caller_tool', params: { name: given(first), arguments: jsonOf(second) } };
    case 'message': {
      const { session: session_id, wait, approvals, model, workspace } = values;
      return {
        method: 'session_message',
        params: { message: given(first), session_id, wait, approvals, model, workspace, ...limitsOf(values) },
      };
    }
    case 'events': {
      const since = values.since === undefined ? {} : { since_index: Number(values.since) };
      const params = { session_id: first, ...since, include_children: values.children };
      return { method: 'session_events', params };
    }
    default:
      throw new UsageError(usage);
  }
};

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (cause) {
    throw new UsageError(`${cause instanceof Error ? cause.message : String(cause)}\n${usage}`, { cause });
  }
};

type Values = Readonly<Partial<Record<keyof typeof limits, string | undefined>>>;

const limitsOf = (values: Values): Readonly<Record<string, number>> =>
  Object.fromEntries(
    (Object.keys(limits) as (keyof typeof limits)[]).flatMap((name) => {
      const text = values[name];
      if (text === undefined) return [];
      const limit = Number(text);
      if (text === '' || !Number.isFinite(limit)) throw new UsageError(`--${name} must be a number`);
      return [[name.replaceAll('-', '_'), limit]];
    }),
  );

const given = (text: string | undefined): string => {
  if (text === undefined) throw new UsageError(usage);
  return text;
};

const jsonOf = (text = '{}'): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError('the arguments are not JSON', { cause });
  }
};

const main = async (args: readonly string[]): Promise<void> => {
  const relay = openRelayClient();
  try {
    if (args.length === 0) return await serveMcp(relay);
    const { method, params } = questionOf(args);
    process.stdout.write(`${JSON.stringify(await relay.ask(method, params))}\n`);
  } catch (error) {
    const isUsage = error instanceof UsageError;
    if (!isUsage && !(error instanceof RelayError)) throw error;
    process.stderr.write(`${isUsage ? '' : 'sallyport-client: '}${error.message}\n`);
    process.exitCode = isUsage ? 2 : 1;
  } finally {
    relay.close();
  }
};

void main(process.argv.slice(2));
