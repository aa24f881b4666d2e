/** A streamed answer: the platform's socket beside the provider's own SDK, on the same server of a model. */
import { Anthropic } from '@anthropic-ai/sdk';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { openCountedTable } from '../counted-table.ts';
import { medianOf, timed } from './beside.ts';
import { type Figure, median } from './figures.ts';
import { deltasPerAnswer, deltaText } from './model-server.ts';
import type { Platform } from './platform.ts';
import { openSocket } from './socket.ts';

const characters = deltasPerAnswer * deltaText.length;
/** The table calls that a first delta may cost in addition to the SDK. */
const callsAllowed = 4;

/** Milliseconds from the question to the first delta, to the last one, and between the two. */
type Answered = { readonly firstMs: number; readonly wholeMs: number; readonly streamMs: number };

export const turnFigures = async (
  platform: Platform,
  { modelUrl, tries }: { readonly modelUrl: string; readonly tries: number },
): Promise<readonly Figure[]> => {
  const client = new Anthropic({ apiKey: 'none', baseURL: modelUrl });
  const bySdk = (): Promise<Heard> => askSdk(client);
  const before = await several(bySdk, tries);
  const bySocket = await askBySocket(platform, tries);
  const after = await several(bySdk, tries);
  const callMs = await tableCallMs(tries * 4);
  const rate = ({ wholeMs }: Answered): number => characters / wholeMs;
  const streamRate = ({ streamMs }: Answered): number => characters / streamMs;
  const floor = { name: 'bare SDK', before: before.firstMs, after: after.firstMs };
  const sdkMs = (before.firstMs + after.firstMs) / 2;
  return [
    {
      ...{ name: 'first delta of a turn', unit: 'ms', value: bySocket.firstMs, floor },
      target: {
        ...{ of: 'value', is: 'at most', bound: 1.5 * sdkMs + callsAllowed * callMs },
        from: `1.5 times the SDK and ${callsAllowed} table calls of ${callMs.toFixed(2)} ms`,
      },
    },
    {
      ...{ name: 'throughput of an answer', unit: 'characters/ms', value: rate(bySocket) },
      floor: { name: 'bare SDK', before: rate(before), after: rate(after) },
      target: { of: 'ratio', is: 'at least', bound: 0.8 },
    },
    {
      // The one above counts the way to the first delta as well.
      ...{ name: 'throughput behind the first delta', unit: 'characters/ms', value: streamRate(bySocket) },
      floor: { name: 'bare SDK', before: streamRate(before), after: streamRate(after) },
    },
  ];
};

const several = async (ask: () => Promise<Heard>, tries: number): Promise<Answered> => {
  const all: Answered[] = [];
  for (let one = 0; one <= tries; one += 1) all.push(answered(await ask()));
  const counted = all.slice(1);
  return {
    firstMs: median(counted.map(({ firstMs }) => firstMs)),
    wholeMs: median(counted.map(({ wholeMs }) => wholeMs)),
    streamMs: median(counted.map(({ streamMs }) => streamMs)),
  };
};

type Heard = Pick<Answered, 'firstMs' | 'wholeMs'>;

const answered = ({ firstMs, wholeMs }: Heard): Answered => ({
  firstMs,
  wholeMs,
  streamMs: wholeMs - firstMs,
});

const askSdk = async (client: Anthropic): Promise<Heard> => {
  const startedAt = performance.now();
  let firstMs: number | undefined;
  let wholeMs = 0;
  const content = 'Go on.';
  const messages = [{ role: 'user' as const, content }];
  const stream = await client.messages.create({ model: 'claude', max_tokens: 8192, stream: true, messages });
  for await (const { type } of stream) {
    if (type !== 'content_block_delta') continue;
    wholeMs = performance.now() - startedAt;
    firstMs ??= wholeMs;
  }
  return { firstMs: firstMs ?? Number.NaN, wholeMs };
};

/** Each turn begins when the one before has ended. */
const askBySocket = async (platform: Platform, tries: number): Promise<Answered> => {
  const socket = await openSocket(platform, {});
  const measured = await several(async () => {
    const startedAt = performance.now();
    let firstMs: number | undefined;
    let wholeMs = 0;
    const ended = socket.follow(({ type }) => {
      if (type === 'delta') {
        wholeMs = performance.now() - startedAt;
        firstMs ??= wholeMs;
      }
      return type === 'completion';
    });
    socket.say('Go on.');
    await ended;
    return { firstMs: firstMs ?? Number.NaN, wholeMs };
  }, tries);
  await socket.close();
  return measured;
};

const tableCallMs = async (tries: number): Promise<number> => {
  const { table, close } = await openCountedTable();
  try {
    const read = new GetCommand({ TableName: table.name, Key: { pk: 'none', sk: 'none' } });
    return await medianOf(() => timed(() => table.client.send(read)), tries);
  } finally {
    await close();
  }
};
