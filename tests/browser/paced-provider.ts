/**
 * A server that speaks the streamed Messages wire of Anthropic at the speed of a real model: a delta is a word, and words
 * come one after the other. Each request takes the next answer of the script.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as pass } from 'node:timers/promises';
import { listen } from '../../local/endpoint/listen.ts';
import {
  beginOf,
  blockDelta,
  blockStart,
  blockStop,
  endOf,
  overload,
  refuse,
  type WireEvent,
  type WireRefusal,
  written,
} from '../messages-wire.ts';

/** Part of an answer. One that breaks ends the stream with an overload. */
export type AnswerPart =
  | { readonly thinking: string }
  | { readonly text: string }
  | { readonly call: string; readonly input: object }
  | { readonly breaks: true };

type PacedAnswer = readonly AnswerPart[] | WireRefusal;

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

type Send = (event: WireEvent) => void;

export const openPacedProvider = async (): Promise<PacedProvider> => {
  const script: PacedAnswer[] = [];
  let deltas = 0;
  let calls = 0;

  const streamPart = async (send: Send, part: AnswerPart, index: number): Promise<void> => {
    if ('breaks' in part) {
      send({ type: 'error', error: overload });
      return;
    }
    if ('call' in part) calls += 1;
    send(blockStart(index, blockOf(part, calls)));
    for (const piece of piecesOf(part)) {
      deltas += 1;
      send(blockDelta(index, deltaOf(part, piece)));
      await pass(deltaMs);
    }
    send(blockStop(index));
  };

  const answer = async (response: ServerResponse, next: PacedAnswer): Promise<void> => {
    if ('status' in next) {
      refuse(response, next);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send: Send = (event) => void response.write(written(event));
    await pass(firstMs);
    send(beginOf({ input_tokens: 1800, output_tokens: 1 }));
    for (const [index, part] of next.entries()) {
      if (response.destroyed) return;
      await streamPart(send, part, index);
    }
    if (!next.some((part) => 'breaks' in part)) {
      const stopReason = next.some((part) => 'call' in part) ? 'tool_use' : 'end_turn';
      for (const event of endOf(stopReason, { output_tokens: 420 })) send(event);
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
