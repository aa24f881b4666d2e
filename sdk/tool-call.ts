/**
 * One tool call at `/mcp`: JSON-RPC in a single POST, answered by an event stream with progress before the result.
 *
 * The endpoint keeps no state between requests, so there is no handshake. An aborted call is cancelled by its id, which no
 * other caller has.
 */
import type { ApiClient } from './api-client.ts';
import { SallyportError } from './errors.ts';
import { readServerEvents } from './server-events.ts';

export type ToolOutput = {
  readonly stream: 'stdout' | 'stderr';
  readonly offset: number;
  readonly text: string;
};

export type ToolCall = {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly onOutput: (output: ToolOutput) => void;
  /** The session of the call, before anything runs in it. */
  readonly onSession?: (id: string) => void;
};

type Message = {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly message?: string; readonly _meta?: Readonly<Record<string, unknown>> };
  readonly result?: {
    readonly isError?: boolean;
    readonly structuredContent?: unknown;
    readonly content?: readonly { readonly text?: string }[];
  };
  readonly error?: { readonly code: number; readonly message: string };
};

const path = '/mcp';
const protocolVersion = '2025-11-25';
const cancelMsMax = 2000;
const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': protocolVersion,
};

/** An aborted signal is thrown as its reason, after the cancellation was sent. */
export const callTool = async <T>(client: ApiClient, call: ToolCall): Promise<T> => {
  const id = crypto.randomUUID();
  const params = { name: call.name, arguments: call.args, _meta: { progressToken: id } };
  let sessionId = 'its session';
  const onSession = (session: string): void => {
    sessionId = session;
    call.onSession?.(session);
  };
  try {
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
    const response = await client.fetch(path, { method: 'POST', headers, body, signal: call.signal });
    for await (const message of messagesOf(response)) {
      if (message.id === id) return resultOf<T>(message);
      reportProgress(message, { ...call, onSession });
    }
  } catch (cause) {
    if (call.signal.aborted) await cancel(client, id);
    // An answer that is no JSON was never ours.
    if (call.signal.aborted || cause instanceof SyntaxError) throw cause;
    if (cause instanceof SallyportError && cause.code !== 'connection_lost') throw cause;
    throw resultLost(sessionId, cause);
  }
  throw resultLost(sessionId);
};

const resultLost = (sessionId: string, cause?: unknown): SallyportError =>
  new SallyportError(
    0,
    {
      code: 'connection_lost',
      message: 'the connection ended before the result arrived',
      suggestions: [`The program may still be running: look at ${sessionId}.`],
    },
    { cause },
  );

async function* messagesOf(response: Response): AsyncGenerator<Message> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    yield (await response.json()) as Message;
    return;
  }
  for await (const { data } of readServerEvents(response)) yield data as Message;
}

const reportProgress = ({ method, params }: Message, { onOutput, onSession }: ToolCall): void => {
  const session = params?._meta?.['dev.sallyport/sessionId'];
  if (method === 'notifications/progress' && typeof session === 'string') onSession?.(session);
  const stream = params?._meta?.['dev.sallyport/stream'];
  const offset = params?._meta?.['dev.sallyport/offset'];
  if (method !== 'notifications/progress' || typeof offset !== 'number') return;
  if (stream === 'stdout' || stream === 'stderr') onOutput({ stream, offset, text: params?.message ?? '' });
};

const resultOf = <T>({ result, error }: Message): T => {
  if (error !== undefined) throw new SallyportError(0, { code: 'invalid_request', message: error.message });
  const text = (result?.content ?? []).map((block) => block.text ?? '').join('');
  if (result?.isError === true) throw refusalOf(text);
  return (result?.structuredContent ?? JSON.parse(text)) as T;
};

type ToolError = {
  readonly type: string;
  readonly message: string;
  readonly suggestions: string[];
  readonly recovery_actions: string[];
};

const refusalOf = (text: string): SallyportError => {
  try {
    const { error } = JSON.parse(text) as { readonly error: ToolError };
    const { type: code, message, suggestions, recovery_actions: recoveryActions } = error;
    return new SallyportError(0, { code, message, suggestions, recoveryActions });
  } catch {
    return new SallyportError(0, { code: 'tool_failed', message: text });
  }
};

const cancel = async (client: ApiClient, requestId: string): Promise<void> => {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId, reason: 'interrupted by the user' },
  });
  const signal = AbortSignal.timeout(cancelMsMax);
  // Best effort: the program also has its own time limit.
  await client.fetch(path, { method: 'POST', headers, body, signal }).catch(() => undefined);
};
