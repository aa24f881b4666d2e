/** Model calls over the relay, both of its ends in memory: requests over their bounds, too many at once, and answers that are cut. */
import { expect, test } from 'vitest';
import { fake } from '../../../tests/fake.ts';
import { encodeHead, modelAnswerHead, splitHead } from '../../contracts/relay/model-call.ts';
import { createRelayPeer, type RelayStream } from '../../contracts/relay/peer.ts';
import { brokerCallsMax } from '../../domain/broker/limits.ts';
import type { ModelAnswer, ModelCall } from '../broker/broker-call.ts';
import type { Deps } from '../deps.ts';
import { createModelStreams } from './model-stream.ts';

type Call = Pick<ModelCall, 'provider' | 'path' | 'body' | 'signal'>;
const head = encodeHead({ provider: 'openai', method: 'POST', path: '/responses' });
const json = { status: 200, contentType: 'application/json' };

const play = (call: (request: Call) => Promise<ModelAnswer>) => {
  const warned: string[] = [];
  const telemetry = fake<Deps<'telemetry'>['telemetry']>({ warn: (message) => void warned.push(message) });
  const models = createModelStreams({ telemetry, call });
  const inside = createRelayPeer({ send: (frame) => queueMicrotask(() => outside.receive(frame)) });
  const outside = createRelayPeer({
    send: (frame) => queueMicrotask(() => inside.receive(frame)),
    onOpen: (_, stream) => models.open(stream),
  });
  const open = () => {
    const ended = Promise.withResolvers<string>();
    let stream: RelayStream | undefined;
    let bytes = Buffer.alloc(0);
    const sink = {
      onAccepted: () => undefined,
      onData: (piece: Uint8Array) => {
        bytes = Buffer.concat([bytes, piece]);
        stream?.take(piece.length);
      },
      onEnd: () => ended.resolve('end'),
      onReset: ({ message }: { readonly message: string }) => ended.resolve(message),
    };
    stream = inside.open({ type: 'model' }, sink);
    const answer = () => {
      const split = splitHead(modelAnswerHead(), bytes);
      return split && { ...split.head, text: Buffer.from(split.rest).toString() };
    };
    return { stream, ended: ended.promise, answer };
  };
  const ask = async (body: string) => {
    const { stream, ...rest } = open();
    await stream.write(head);
    await stream.write(Buffer.from(body));
    stream.end();
    return { stream, ...rest };
  };
  return { open, ask, outside, warned, settled: models.settled };
};

test('a request is read to its end, and its answer passes', async () => {
  const asked: Call[] = [];
  const { ask } = play(async (request) => {
    asked.push(request);
    return { ...json, body: 'hello' };
  });
  const { ended, answer } = await ask('x'.repeat(600_000));
  expect(await ended).toBe('end');
  expect(answer()).toEqual({ ...json, text: 'hello' });
  expect(asked).toMatchObject([{ provider: 'openai', path: '/responses', body: 'x'.repeat(600_000) }]);
});

test('a request without a head, or over its bound, ends its stream', async () => {
  const { open } = play(async () => ({ ...json, body: '' }));
  const headless = open();
  await headless.stream.write(Buffer.from('{}\n'));
  headless.stream.end();
  expect(await headless.ended).toBe('the request cannot be read');
  const long = open();
  await long.stream.write(head);
  while (await long.stream.write(Buffer.alloc(200_000)));
  expect(await long.ended).toBe('a request has at most 8388608 bytes');
});

const tooMany = '8 model calls of this sandbox are open already';

test('further calls than may be open are refused', async () => {
  const gate = Promise.withResolvers<void>();
  const { ask } = play(async () => {
    await gate.promise;
    return { ...json, body: 'late' };
  });
  const calls = await Promise.all(Array.from({ length: brokerCallsMax }, () => ask('{}')));
  expect(await (await ask('{}')).ended).toBe(tooMany);
  gate.resolve();
  expect(await Promise.all(calls.map(({ ended }) => ended))).toEqual(calls.map(() => 'end'));
  expect(await (await ask('{}')).ended).toBe('end');
});

test('a request counts while it is sent, until it is broken off', async () => {
  const { open, ask } = play(async () => ({ ...json, body: 'hello' }));
  const sending = Array.from({ length: brokerCallsMax }, open);
  await Promise.all(
    sending.map(async ({ stream }) => {
      await stream.write(head);
      await stream.write(Buffer.alloc(100_000));
    }),
  );
  const further = open();
  await further.stream.write(head);
  expect(await further.ended).toBe(tooMany);
  const [gone, long] = sending;
  gone?.stream.reset({ status: 502, message: 'gone' });
  expect(await (await ask('{}')).ended).toBe('end');
  while (await long?.stream.write(Buffer.alloc(200_000)));
  expect(await long?.ended).toContain('at most');
  // Six are left: one more may be sent beside a seventh.
  open();
  expect(await (await ask('{}')).ended).toBe('end');
});

const endless = (onCancel: () => void) =>
  new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(Buffer.alloc(1000, 'x')),
    cancel: onCancel,
  });

test('a program that goes away, and a relay that closes, end their calls before the holder is over', async () => {
  const cancelled = new Set<AbortSignal>();
  const signals: AbortSignal[] = [];
  const { ask, outside, settled, warned } = play(async ({ signal }) => {
    signals.push(signal);
    return { ...json, body: endless(() => void cancelled.add(signal)) };
  });
  const gone = await ask('{}');
  gone.stream.reset({ status: 502, message: 'gone' });
  await ask('{}');
  outside.close({ status: 502, message: 'the relay was closed' });
  await settled();
  expect(cancelled.size).toBe(2);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  expect(warned).toEqual([]);
});

test('an answer that breaks off ends its stream with a reason', async () => {
  const { ask, warned } = play(async () => {
    throw new Error('a secret detail');
  });
  expect(await (await ask('{}')).ended).toBe('the answer of the model was interrupted');
  expect(warned).toEqual(['the answer of a model was interrupted on its way into a sandbox']);
});
