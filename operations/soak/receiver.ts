/** A receiver of webhooks on loopback that refuses, or is slow, while the faults last. */
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../../local/endpoint/listen.ts';
import type { Delivered } from './record.ts';

export type Receiver = {
  readonly host: string;
  readonly delivered: readonly Delivered[];
  mood: 'takes' | 'refuses' | 'is slow';
  readonly stop: () => Promise<void>;
};

const slowMs = 2000;

type Told = {
  readonly type: string;
  readonly data: { readonly sessionId?: string; readonly turnId?: string };
};

export const openReceiver = async (): Promise<Receiver> => {
  const delivered: Delivered[] = [];
  const { port, stop } = await listen(async (request, response) => {
    const body = await text(request);
    if (receiver.mood === 'is slow') await sleep(slowMs);
    if (receiver.mood === 'refuses') return void response.writeHead(500).end();
    const { type, data } = JSON.parse(body) as Told;
    const id = String(request.headers['webhook-id']);
    delivered.push({ id, type, sessionId: data.sessionId ?? '', turnId: data.turnId ?? '' });
    response.writeHead(200).end();
  });
  const receiver: Receiver = { host: `127.0.0.1:${port}`, delivered, mood: 'takes', stop };
  return receiver;
};
