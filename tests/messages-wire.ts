/** The streamed Messages wire of Anthropic as a server writes it: the events of an answer, their text, and refusals. */
import type { ServerResponse } from 'node:http';

export type WireEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export const wireUsage = { input_tokens: 10, output_tokens: 5 };

export const beginOf = (usage = wireUsage): WireEvent => ({
  type: 'message_start',
  message: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage },
  },
});

export const blockStart = (index: number, block: object): WireEvent => {
  return { type: 'content_block_start', index, content_block: block };
};
export const blockDelta = (index: number, delta: object): WireEvent => {
  return { type: 'content_block_delta', index, delta };
};
export const blockStop = (index: number): WireEvent => ({ type: 'content_block_stop', index });

export const textStart = blockStart(0, { type: 'text', text: '' });
export const textDelta = (text: string): WireEvent => blockDelta(0, { type: 'text_delta', text });

export const endOf = (
  stopReason: 'end_turn' | 'tool_use',
  usage: object = wireUsage,
): readonly WireEvent[] => [
  { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage },
  { type: 'message_stop' },
];

export const written = (event: WireEvent): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

export const overload = { type: 'overloaded_error', message: 'Overloaded' };
const refusals: Readonly<Record<number, object>> = {
  401: { type: 'authentication_error', message: 'invalid x-api-key' },
  429: { type: 'rate_limit_error', message: 'This request would exceed your rate limit' },
  500: { type: 'api_error', message: 'Internal server error' },
};

export type WireRefusal = { readonly status: number; readonly retryAfter?: string };

export const refuse = (response: ServerResponse, { status, retryAfter }: WireRefusal): void => {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ type: 'error', error: refusals[status] ?? overload }));
};
