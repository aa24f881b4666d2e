/** A subscriber that comes while an answer streams: it gets the text from its beginning, and no reads of the table are made for it. */
import { expect, test } from 'vitest';
import { fake } from '../../../tests/fake.ts';
import { type Frame, unnumberedFrame } from '../../contracts/frames.ts';
import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import { frameBytesMax } from '../../domain/limits.ts';
import type { PublishDeps } from '../deps.ts';
import { openPublisher } from './publisher.ts';
import { openStreamedText } from './streamed-text.ts';

const sessionId = 's' as SessionId;
const [first, second] = ['first', 'second'] as [ConnectionId, ConnectionId];

const delta = (offset: number, text: string, messageId = 'm'): Frame =>
  unnumberedFrame('delta', { sessionId, at: 0, data: { messageId, offset, text } });
const thought = (text: string): Frame => ({ ...delta(0, text), type: 'reasoning_delta' });
const logged = (type: 'message' | 'reasoning' | 'completion', data: Frame['data']): Frame => ({
  ...delta(0, ''),
  ...{ type, seq: 1, data },
});

/** A publisher that knows one subscriber, and what each of two got: the type, the offset and the text of a frame. */
const openStream = () => {
  const clock = { now: 1000 };
  const posted: Record<string, unknown[]> = { first: [], second: [] };
  const ports = fake<PublishDeps>({
    sockets: fake<PublishDeps['sockets']>({
      post: async (id, text) => {
        const { type, data } = JSON.parse(text);
        posted[id]?.push([type, data.offset, data.text]);
        return 'sent';
      },
    }),
    world: fake<PublishDeps['world']>({ now: () => clock.now }),
  });
  const publisher = openPublisher(
    ports,
    { id: sessionId },
    { subscribers: [{ id: first }], readAt: clock.now, streamed: openStreamedText() },
  );
  const joins = async (options: { readonly joinBy?: number } = {}) => {
    publisher.setSubscribers([{ id: first }, { id: second, ...options }], clock.now);
    await publisher.publish([]);
  };
  return { clock, posted, publisher, joins };
};

test('a subscriber that comes in the middle of an answer gets it from its beginning, once, also while nothing more comes', async () => {
  const { posted, publisher, joins } = openStream();
  await publisher.publish([thought('hm')]);
  await publisher.publish([delta(0, 'one ')]);
  await publisher.publish([delta(4, 'two ')]);
  await joins();
  const before = [
    ['reasoning_delta', 0, 'hm'],
    ['delta', 0, 'one two '],
  ];
  expect(posted['second']).toEqual(before);
  await joins();
  await publisher.publish([delta(8, 'three')]);
  expect(posted['second']).toEqual([...before, ['delta', 8, 'three']]);
  expect(posted['first']).toEqual([
    ['reasoning_delta', 0, 'hm'],
    ['delta', 0, 'one '],
    ['delta', 4, 'two '],
    ['delta', 8, 'three'],
  ]);
});

test('one that its greeter still serves waits for the text until it has joined', async () => {
  const { clock, posted, publisher, joins } = openStream();
  await publisher.publish([delta(0, 'one ')]);
  await joins({ joinBy: clock.now + 100 });
  await publisher.publish([delta(4, 'two ')]);
  expect(posted['second']).toEqual([]);
  clock.now += 100;
  await publisher.publish([delta(8, 'three')]);
  expect(posted['second']).toEqual([
    ['delta', 0, 'one two '],
    ['delta', 8, 'three'],
  ]);
});

test.each([
  ['its event was published', [logged('message', { messageId: 'm', role: 'assistant', text: 'one' })]],
  ['its turn has ended', [logged('completion', {})]],
  ['it is made again', [delta(0, 'new', 'other')]],
  ['a piece of it was left out', [delta(9, 'late')]],
  [
    'its provider is asked again',
    [unnumberedFrame('system', { ...delta(0, ''), at: 0, data: { kind: 'model_retry' } })],
  ],
])('the text of an answer is not sent once %s', async (_, frames) => {
  const { posted, publisher, joins } = openStream();
  await publisher.publish([delta(0, 'one')]);
  await publisher.publish(frames);
  await joins();
  const fresh = frames.filter(({ data }) => data['text'] === 'new').map(() => ['delta', 0, 'new']);
  expect(posted['second']).toEqual(fresh);
});

test('the thoughts of an answer go once they are in the log, and its text stays', async () => {
  const { posted, publisher, joins } = openStream();
  await publisher.publish([thought('hm'), delta(0, 'one')]);
  await publisher.publish([logged('reasoning', { messageId: 'm', text: 'hm' })]);
  await joins();
  expect(posted['second']).toEqual([['delta', 0, 'one']]);
});

test('a long text comes in frames that the gateway takes', async () => {
  const { posted, publisher, joins } = openStream();
  await publisher.publish([delta(0, 'a'.repeat(frameBytesMax - 4096))]);
  await publisher.publish([delta(frameBytesMax - 4096, 'b'.repeat(8192))]);
  await joins();
  const pieces = posted['second'] as [string, number, string][];
  expect(pieces).toHaveLength(2);
  expect(pieces.map(([, offset]) => offset)).toEqual([0, pieces[0]?.[2].length]);
  expect(pieces.map(([, , text]) => text).join('')).toBe('a'.repeat(frameBytesMax - 4096) + 'b'.repeat(8192));
});
