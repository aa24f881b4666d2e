/** A model's server on the streamed Messages wire that answers, is slow, refuses, or breaks off, as chance has it. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../../local/endpoint/listen.ts';
import {
  beginOf,
  blockStop,
  endOf,
  refuse,
  textDelta,
  textStart,
  written,
} from '../../tests/messages-wire.ts';
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

const head = written(beginOf()) + written(textStart);
const delta = written(textDelta('word '));
const tail = [blockStop(0), ...endOf('end_turn')].map(written).join('');

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
  if (mood === 'fails') return refuse(response, { status: 500 });
  if (mood === 'is overloaded') return refuse(response, { status: 529 });
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(head);
  for (let said = 0; said < words; said += 1) {
    if (mood === 'breaks off' && said === words / 2) return void response.destroy();
    if (mood === 'is slow') await sleep(slowMs);
    response.write(delta);
  }
  response.end(tail);
};
