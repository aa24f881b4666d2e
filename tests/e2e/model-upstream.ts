/** A server that stands for three providers: it speaks the wire of each, streamed, and remembers what it was sent. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen } from '../../local/endpoint/listen.ts';
import { beginOf, blockStop, endOf, textDelta, textStart } from '../messages-wire.ts';

export type UpstreamRequest = {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
};

export type ModelUpstream = {
  readonly url: string;
  readonly asked: UpstreamRequest[];
  /** Answers stop after their first word until `go` is called. */
  readonly hold: () => void;
  readonly go: () => void;
  /** The next answers never end by themselves. */
  readonly neverEnd: () => void;
  /** Answers whose reader went away. */
  readonly left: () => number;
  readonly close: () => void;
};

const first = 'Hello ';
const rest = 'world';
/** Of every answer. */
export const upstreamUsage = { input: 1000, output: 10 };

export const openModelUpstream = async (): Promise<ModelUpstream> => {
  const asked: UpstreamRequest[] = [];
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  let isEndless = false;
  let left = 0;
  const { url: base, stop } = await listen(async (request, response) => {
    const url = request.url ?? '';
    const text = Buffer.concat(await Array.fromAsync(request)).toString();
    asked.push({ url, headers: request.headers, body: JSON.parse(text) });
    let isGone = false;
    response.once('close', () => {
      isGone = !response.writableFinished;
      if (isGone) left += 1;
    });
    if (url.endsWith('/chat/completions')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(chatAnswer));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const wire = wireOf(url);
    write(response, [...wire.begin, wire.delta(first)]);
    await gate.promise;
    while (isEndless && !isGone) {
      write(response, [wire.delta(rest.repeat(100))]);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    write(response, [wire.delta(rest), ...wire.end]);
    response.end();
  });
  return {
    url: base,
    asked,
    hold: () => {
      gate = Promise.withResolvers();
    },
    go: () => gate.resolve(),
    neverEnd: () => {
      isEndless = true;
    },
    left: () => left,
    close: () => void stop(),
  };
};

type Event = { readonly type?: string } & Readonly<Record<string, unknown>>;

const write = (response: ServerResponse, events: readonly Event[]): void => {
  for (const event of events) {
    const name = event.type === undefined ? '' : `event: ${event.type}\n`;
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  }
};

type Wire = {
  readonly begin: readonly Event[];
  readonly delta: (text: string) => Event;
  readonly end: readonly Event[];
};

const { input, output } = upstreamUsage;
const anthropic: Wire = {
  begin: [beginOf({ input_tokens: input, output_tokens: 1 }), textStart],
  delta: textDelta,
  end: [blockStop(0), ...endOf('end_turn', { output_tokens: output })],
};

const openai: Wire = {
  begin: [{ type: 'response.created', response: { id: 'resp_1' } }],
  delta: (delta) => ({ type: 'response.output_text.delta', delta, item_id: 'i', content_index: 0 }),
  end: [
    { type: 'response.output_text.done', text: `${first}${rest}`.repeat(1000) },
    {
      type: 'response.completed',
      response: { id: 'resp_1', usage: { input_tokens: input, output_tokens: output } },
    },
  ],
};

const said = (text: string) => ({ index: 0, content: { role: 'model', parts: [{ text }] } });
const gemini: Wire = {
  begin: [],
  delta: (text) => ({ candidates: [said(text)] }),
  end: [
    {
      candidates: [{ ...said(''), finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: input, candidatesTokenCount: output },
    },
  ],
};

const chatAnswer = {
  choices: [{ index: 0, message: { role: 'assistant', content: first + rest }, finish_reason: 'stop' }],
  usage: { prompt_tokens: input, completion_tokens: output },
};

const wireOf = (url: string): Wire => {
  if (url.includes('/messages')) return anthropic;
  return url.endsWith('/responses') ? openai : gemini;
};
