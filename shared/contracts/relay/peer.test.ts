import fc from 'fast-check';
import { expect, test } from 'vitest';
import { relayPieceBytesMax, relayWindowBytes } from '#shared/domain/relay/limits.ts';
import { createFrameDecoder, encodeCredit, encodeFrame, type RelayReset, type RelayTarget } from './frame.ts';
import { createRelayPeer, type RelayStream } from './peer.ts';

const target: RelayTarget = { type: 'egress', via: 'tunnel', host: 'a.org', port: 443 };
const settle = () => new Promise((resolve) => setImmediate(resolve));

type End = {
  readonly bytes: number[];
  accepted: boolean;
  ended: boolean;
  reset: RelayReset | undefined;
};
const sinkInto = (end: End) => ({
  onAccepted: () => {
    end.accepted = true;
  },
  onData: (bytes: Uint8Array) => void end.bytes.push(...bytes),
  onEnd: () => {
    end.ended = true;
  },
  onReset: (reason: RelayReset) => {
    end.reset = reason;
  },
});
const newEnd = (): End => ({ bytes: [], accepted: false, ended: false, reset: undefined });

/** Both ends; frames wait until they are carried, in pieces of any size. */
const openPair = () => {
  const [toPlatform, toSandbox]: [Uint8Array[], Uint8Array[]] = [[], []];
  const opened: { target: RelayTarget; stream: RelayStream; end: End }[] = [];
  const sandbox = createRelayPeer({ send: (frame) => void toPlatform.push(frame) });
  const platform = createRelayPeer({
    send: (frame) => void toSandbox.push(frame),
    onOpen: (given, stream) => {
      const end = newEnd();
      opened.push({ target: given, stream, end });
      return sinkInto(end);
    },
  });
  const carry = async (pieceBytes = 1 << 20): Promise<void> => {
    for (;;) {
      await settle();
      const [out, into] = [Buffer.concat(toPlatform.splice(0)), Buffer.concat(toSandbox.splice(0))];
      if (out.length + into.length === 0) return;
      for (let at = 0; at < out.length; at += pieceBytes) platform.receive(out.subarray(at, at + pieceBytes));
      for (let at = 0; at < into.length; at += pieceBytes)
        sandbox.receive(into.subarray(at, at + pieceBytes));
    }
  };
  return { sandbox, platform, opened, carry, toPlatform };
};

test('a stream is opened, accepted, carries bytes both ways and ends', async () => {
  const { sandbox, platform, opened, carry } = openPair();
  const inside = newEnd();
  const stream = sandbox.open(target, sinkInto(inside));
  await carry(3);
  const [outside] = opened;
  expect(outside?.target).toEqual(target);
  outside?.stream.accept();
  await carry();
  expect(inside.accepted).toBe(true);
  void stream.write(Uint8Array.from([1, 2, 3]));
  void outside?.stream.write(Uint8Array.from([4]));
  stream.end();
  await carry(1);
  expect([outside?.end.bytes, outside?.end.ended, inside.bytes]).toEqual([[1, 2, 3], true, [4]]);
  outside?.stream.end();
  await carry();
  expect([inside.ended, sandbox.openStreams(), platform.openStreams()]).toEqual([true, 0, 0]);
});

test('a writer waits for its reader, and no other stream does (RL3)', async () => {
  const { sandbox, opened, carry } = openPair();
  const streams = [sandbox.open(target, sinkInto(newEnd())), sandbox.open(target, sinkInto(newEnd()))];
  await carry();
  for (const { stream } of opened) stream.accept();
  await carry();
  let isSent = false;
  const writing = streams[0]?.write(new Uint8Array(relayWindowBytes + 1)).then(() => {
    isSent = true;
  });
  await carry();
  expect([opened[0]?.end.bytes.length, isSent]).toEqual([relayWindowBytes, false]);
  expect(await streams[1]?.write(Uint8Array.from([1]))).toBe(true);
  opened[0]?.stream.take(relayWindowBytes);
  await carry();
  await writing;
  expect(opened[0]?.end.bytes.length).toBe(relayWindowBytes + 1);
});

test('a reset ends the stream on both sides, and wakes its writer', async () => {
  const { sandbox, opened, carry } = openPair();
  const inside = newEnd();
  const stream = sandbox.open(target, sinkInto(inside));
  const writing = stream.write(Uint8Array.from([1]));
  await carry();
  opened[0]?.stream.reset({ status: 403, message: 'not listed' });
  await carry();
  expect(inside.reset).toEqual({ status: 403, message: 'not listed' });
  expect(await writing).toBe(false);
  expect(sandbox.openStreams()).toBe(0);
});

test('all streams are reset on both sides at once', async () => {
  const { sandbox, platform, carry } = openPair();
  const ends = [newEnd(), newEnd()];
  for (const end of ends) sandbox.open(target, sinkInto(end));
  await carry();
  platform.resetAll({ status: 502, message: 'over' });
  await carry();
  expect(ends.map(({ reset }) => reset?.message)).toEqual(['over', 'over']);
  expect([sandbox.openStreams(), platform.openStreams()]).toEqual([0, 0]);
});

test('any schedule of writes, takes and pieces carries the same bytes (RL2)', async () => {
  const step = fc.oneof(
    fc.record({ write: fc.nat({ max: relayPieceBytesMax * 2 }) }),
    fc.record({ take: fc.constant(true) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.integer({ min: 50, max: 70_000 }),
      async (steps, piece) => {
        const { sandbox, opened, carry } = openPair();
        const stream = sandbox.open(target, sinkInto(newEnd()));
        await carry();
        opened[0]?.stream.accept();
        await carry();
        let written = 0;
        let taken = 0;
        let writing: Promise<unknown> = Promise.resolve();
        const takeAll = (): void => {
          const arrived = opened[0]?.end.bytes.length ?? 0;
          opened[0]?.stream.take(arrived - taken);
          taken = arrived;
        };
        for (const one of steps) {
          if ('write' in one) {
            const bytes = Uint8Array.from({ length: one.write }, (_, at) => (written + at) % 251);
            written += one.write;
            writing = writing.then(() => stream.write(bytes));
          } else takeAll();
          await carry(piece);
        }
        for (let round = 0; round < 12; round += 1) {
          takeAll();
          await carry(piece);
        }
        await writing;
        const bytes = opened[0]?.end.bytes ?? [];
        expect(bytes.length).toBe(written);
        expect(bytes.every((value, at) => value === at % 251)).toBe(true);
      },
    ),
    { numRuns: 15 },
  );
});

test.each([
  ['data before it is accepted', [encodeFrame('data', 1, Uint8Array.from([1]))]],
  [
    'more data than its window',
    [encodeFrame('accepted', 1), encodeFrame('data', 1, new Uint8Array(relayWindowBytes + 1))],
  ],
  ['an acceptance twice', [encodeFrame('accepted', 1), encodeFrame('accepted', 1)]],
  ['credit beyond its window', [encodeCredit(1, 1)]],
  ['a stream of the other end', [encodeFrame('open', 2, new TextEncoder().encode('{}'))]],
  ['an unknown kind', [Uint8Array.from([9, 0, 0, 0, 1, 0, 0, 0, 0])]],
  ['a reset without a reason', [encodeFrame('reset', 1)]],
])('the sandbox refuses %s', (_, frames) => {
  const sandbox = createRelayPeer({ send: () => undefined });
  sandbox.open(target, sinkInto(newEnd()));
  expect(() => {
    for (const frame of frames) sandbox.receive(frame);
  }).toThrow();
});

test('the platform refuses a stream that was opened before, and a target of another shape', () => {
  const platform = createRelayPeer({ send: () => undefined, onOpen: () => sinkInto(newEnd()) });
  const open = (id: number, value: object) =>
    platform.receive(encodeFrame('open', id, new TextEncoder().encode(JSON.stringify(value))));
  open(1, target);
  expect(() => open(1, target)).toThrow();
  expect(() => open(2, { ...target, port: 0 })).toThrow();
});

test('a frame that is over its bound is refused before it is held', () => {
  const decode = createFrameDecoder();
  const head = new Uint8Array(9);
  new DataView(head.buffer).setUint8(0, 3);
  new DataView(head.buffer).setUint32(5, 1_048_577);
  expect(() => decode(head)).toThrow('a frame of 1048577 bytes');
});

test('a late frame of a stream that is over has no effect', () => {
  const sandbox = createRelayPeer({ send: () => undefined });
  const stream = sandbox.open(target, sinkInto(newEnd()));
  stream.reset({ status: 502, message: 'closed' });
  sandbox.receive(encodeFrame('data', 1, Uint8Array.from([1])));
  expect(sandbox.openStreams()).toBe(0);
});
