/**
 * One tool call at `/mcp`: JSON-RPC in a single POST, answered by an event stream with progress before the result.
 *
 * The endpoint keeps no state between requests, so there is no handshake. A cancelled call is cancelled by its id,
 * which no other caller has.
 */
import { randomUUID } from 'node:crypto';
import type { Sallyport } from '#sdk/sallyport.ts';
import { CliFailure, failure } from './failure.ts';

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

const protocolVersion = '2025-11-25';
const cancelMsMax = 2000;
const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': protocolVersion,
};

export const callTool = async <T>(client: Sallyport, call: ToolCall): Promise<T> => {
  const id = randomUUID();
  const params = { name: call.name, arguments: call.args, _meta: { progressToken: id } };
  try {
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
    const response = await client.fetch('/mcp', { method: 'POST', headers, body, signal: call.signal });
    for await (const message of messagesOf(response)) {
      if (message.id === id) return resultOf<T>(message);
      reportProgress(message, call);
    }
  } catch (cause) {
    if (!call.signal.aborted) throw cause;
    await cancel(client, id);
    throw failure('interrupted', 'the call was cancelled', { cause, exitCode: 130 });
  }
  throw failure('connection_lost', 'the connection ended before the result arrived', {
    suggestions: ['The program may still be running: check with `sallyport sessions`.'],
  });
};

async function* messagesOf(response: Response): AsyncGenerator<Message> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    yield JSON.parse(await response.text()) as Message;
    return;
  }
  if (response.body === null) return;
  for await (const data of readEventStream(response.body)) yield JSON.parse(data) as Message;
}

const reportProgress = ({ method, params }: Message, { onOutput }: ToolCall): void => {
  const stream = params?._meta?.['dev.sallyport/stream'];
  const offset = params?._meta?.['dev.sallyport/offset'];
  if (method !== 'notifications/progress' || typeof offset !== 'number') return;
  if (stream === 'stdout' || stream === 'stderr') onOutput({ stream, offset, text: params?.message ?? '' });
};

const resultOf = <T>({ result, error }: Message): T => {
  if (error !== undefined) throw failure('invalid_request', error.message);
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

const refusalOf = (text: string): CliFailure => {
  try {
    const { error } = JSON.parse(text) as { readonly error: ToolError };
    const { type, message, suggestions, recovery_actions } = error;
    return new CliFailure({
      error: { code: type, message, suggestions, recoveryActions: recovery_actions },
    });
  } catch (cause) {
    return failure('tool_failed', text, { cause });
  }
};

const cancel = async (client: Sallyport, requestId: string): Promise<void> => {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId, reason: 'interrupted by the user' },
  });
  const signal = AbortSignal.timeout(cancelMsMax);
  // Best effort: the program also has its own time limit.
  await client.fetch('/mcp', { method: 'POST', headers, body, signal }).catch(() => undefined);
};

/** The data of each message of a `text/event-stream` body (HTML standard, section 9.2). */
export async function* readEventStream(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
      if (line !== '' || data.length === 0) continue;
      yield data.join('\n');
      data = [];
    }
  }
}
