/**
 * A server that speaks the streamed Messages wire of Anthropic at the speed of a real model: a delta is a word, and words
 * come one after the other. Each request takes the next answer of the script.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as pass } from 'node:timers/promises';
import { listen } from '../../local/endpoint/listen.ts';

/** Part of an answer. One that breaks ends the stream with an overload. */
export type AnswerPart =
  | { readonly thinking: string }
  | { readonly text: string }
  | { readonly call: string; readonly input: object }
  | { readonly breaks: true };

type PacedAnswer = readonly AnswerPart[] | { readonly status: number; readonly retryAfter?: string };

export type PacedProvider = {
  readonly url: string;
  readonly script: PacedAnswer[];
  /** Deltas that were sent, of all answers. */
  readonly deltaCount: () => number;
  readonly close: () => void;
};

/** Some 60 words a second. */
const deltaMs = 16;
/** Before the first delta, as the prompt is read. */
const firstMs = 400;

type Send = (type: string, fields: object) => void;

export const openPacedProvider = async (): Promise<PacedProvider> => {
  const script: PacedAnswer[] = [];
  let deltas = 0;
  let calls = 0;

  const streamPart = async (send: Send, part: AnswerPart, index: number): Promise<void> => {
    const delta = async (fields: object): Promise<void> => {
      deltas += 1;
      send('content_block_delta', { index, delta: fields });
      await pass(deltaMs);
    };
    if ('breaks' in part) {
      send('error', { error: { type: 'overloaded_error', message: 'Overloaded' } });
      return;
    }
    if ('call' in part) calls += 1;
    send('content_block_start', { index, content_block: blockOf(part, calls) });
    for (const piece of piecesOf(part)) await delta(deltaOf(part, piece));
    send('content_block_stop', { index });
  };

  const answer = async (response: ServerResponse, next: PacedAnswer): Promise<void> => {
    if ('status' in next) {
      refuse(response, next);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send: Send = (type, fields) =>
      void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
    await pass(firstMs);
    send('message_start', { message });
    for (const [index, part] of next.entries()) {
      if (response.destroyed) return;
      await streamPart(send, part, index);
    }
    if (!next.some((part) => 'breaks' in part)) {
      const stop_reason = next.some((part) => 'call' in part) ? 'tool_use' : 'end_turn';
      send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 420 } });
      send('message_stop', {});
    }
    response.end();
  };

  const { url, stop } = await listen(async (request, response) => {
    await Array.fromAsync(request);
    if (request.url?.endsWith('/messages')) await answer(response, script.shift() ?? [{ text: 'Done.' }]);
    else
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(
          '{"input_tokens":1,"data":[{"id":"claude-opus-4-8","display_name":"Claude Opus 4.8","type":"model"}]}',
        );
  });
  return {
    url,
    script,
    deltaCount: () => deltas,
    close: () => void stop(),
  };
};

const message = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-4-8', content: [] },
  ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 1800, output_tokens: 1 } },
};

const refusals: Readonly<Record<number, object>> = {
  401: { type: 'authentication_error', message: 'invalid x-api-key' },
  429: { type: 'rate_limit_error', message: 'This request would exceed your rate limit' },
  500: { type: 'api_error', message: 'Internal server error' },
  529: { type: 'overloaded_error', message: 'Overloaded' },
};

const refuse = (
  response: ServerResponse,
  { status, retryAfter }: { readonly status: number; readonly retryAfter?: string },
): void => {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ type: 'error', error: refusals[status] ?? refusals[529] }));
};

type Block = Exclude<AnswerPart, { readonly breaks: true }>;

const blockOf = (part: Block, number: number): object => {
  if ('thinking' in part) return { type: 'thinking', thinking: '', signature: '' };
  if ('text' in part) return { type: 'text', text: '' };
  return { type: 'tool_use', id: `toolu_${number}`, name: part.call, input: {} };
};

const piecesOf = (part: Block): readonly string[] => {
  if ('thinking' in part) return part.thinking.match(/\S+\s*|\s+/g) ?? [];
  if ('text' in part) return part.text.match(/\S+\s*|\s+/g) ?? [];
  return JSON.stringify(part.input).match(/.{1,24}/gs) ?? [];
};

const deltaOf = (part: Block, piece: string): object => {
  if ('thinking' in part) return { type: 'thinking_delta', thinking: piece };
  if ('text' in part) return { type: 'text_delta', text: piece };
  return { type: 'input_json_delta', partial_json: piece };
};
