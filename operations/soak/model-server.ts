/** A model's server on the streamed Messages wire that answers, is slow, refuses, or breaks off, as chance has it. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../../local/endpoint/listen.ts';
import type { Random } from '../../tests/simulation/random.ts';

export type ModelServer = {
  readonly url: string;
  /** The failures so far, by their kind. */
  readonly failures: () => number;
  readonly stop: () => Promise<void>;
};

type Mood = 'answers' | 'is slow' | 'is overloaded' | 'fails' | 'breaks off' | 'hangs up';
const moods: readonly [Mood, ...Mood[]] = [
  'answers',
  'is slow',
  'is overloaded',
  'fails',
  'breaks off',
  'hangs up',
];
const words = 20;
const slowMs = 300;

const usage = { input_tokens: 10, output_tokens: 5 };
const written = (event: { readonly type: string } & object): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const message = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [] },
  ...{ stop_reason: null, stop_sequence: null, usage },
};
const head =
  written({ type: 'message_start', message } as { type: string }) +
  written({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as {
    type: string;
  });
const delta = written({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: 'word ' },
} as {
  type: string;
});
const tail =
  written({ type: 'content_block_stop', index: 0 } as { type: string }) +
  written({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage } as {
    type: string;
  }) +
  written({ type: 'message_stop' });

export const openModelServer = async (random: Random): Promise<ModelServer> => {
  let failures = 0;
  const { url, stop } = await listen(async (request, response) => {
    for await (const _ of request);
    if (!request.url?.includes('/messages'))
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"input_tokens":1,"data":[]}');
    const mood = random.pick(moods);
    if (mood !== 'answers') failures += 1;
    await answer(response, mood);
  });
  return { url, failures: () => failures, stop };
};

const answer = async (response: ServerResponse, mood: Mood): Promise<void> => {
  if (mood === 'hangs up') return void response.destroy();
  if (mood === 'fails' || mood === 'is overloaded') {
    const error = { type: mood === 'fails' ? 'api_error' : 'overloaded_error', message: 'not now' };
    response.writeHead(mood === 'fails' ? 500 : 529, { 'content-type': 'application/json' });
    return void response.end(JSON.stringify({ type: 'error', error }));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(head);
  for (let said = 0; said < words; said += 1) {
    if (mood === 'breaks off' && said === words / 2) return void response.destroy();
    if (mood === 'is slow') await sleep(slowMs);
    response.write(delta);
  }
  response.end(tail);
};
