import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type ArchiveFrame,
  type ArchiveHeader,
  archivePieceBytesMax,
  encodeArchiveFrame,
  readArchive,
} from './archive.ts';

const collect = async (chunks: readonly Uint8Array[]): Promise<ArchiveFrame[]> => {
  const frames: ArchiveFrame[] = [];
  for await (const frame of readArchive(ReadableStream.from(chunks))) frames.push(frame);
  // A payload may lie in a larger buffer: its bytes are what counts.
  return frames.map(({ header, payload }) => ({ header, payload: Uint8Array.from(payload) }));
};

const path = fc.string({ unit: 'binary', minLength: 1, maxLength: 300 });
const mode = fc.integer({ min: 0, max: 0o777 });
const size = fc.nat();
const sha256 = fc.stringMatching(/^[0-9a-f]{64}$/);
const header: fc.Arbitrary<ArchiveHeader> = fc.oneof(
  fc.record({ type: fc.constant('begin' as const), isFull: fc.boolean() }),
  fc.record({ type: fc.constant('directory' as const), path, mode }),
  fc.record({ type: fc.constant('symlink' as const), path, target: path }),
  fc.record(
    {
      type: fc.constant('file' as const),
      path,
      mode,
      mtimeMs: fc.double({ min: 0, max: 4e12, noNaN: true }).map((value) => value + 0),
      size,
      same: fc.constant(true as const),
      sha256,
    },
    { requiredKeys: ['type', 'path', 'mode', 'mtimeMs', 'size'], noNullPrototype: true },
  ),
  fc.record(
    { type: fc.constant('file-end' as const), size, sha256, isWhole: fc.boolean() },
    { requiredKeys: ['type', 'size', 'isWhole'], noNullPrototype: true },
  ),
  fc.record({ type: fc.constant('left-out' as const), path, reason: path }),
  fc.record({ type: fc.constant('removed' as const), path }),
  fc.record({ type: fc.constant('end' as const) }),
);
const data = fc
  .uint8Array({ maxLength: 2000 })
  .map((payload) => ({ header: { type: 'data' as const }, payload }));
const frame: fc.Arbitrary<ArchiveFrame> = fc.oneof(
  header.map((only) => ({ header: { ...only }, payload: new Uint8Array(0) })),
  data,
);

/** The same bytes, cut where the numbers say. */
const cutAt = (bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] => {
  const places = cuts.map((cut) => cut % (bytes.length + 1)).toSorted((one, other) => one - other);
  return [0, ...places].map((from, index) => bytes.slice(from, places[index] ?? bytes.length));
};

const join = (frames: readonly ArchiveFrame[]): Uint8Array =>
  Buffer.concat(frames.map((one) => encodeArchiveFrame(one.header, one.payload)));

test('any frames are decoded unchanged, wherever the stream is split', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(frame, { maxLength: 12 }),
      fc.array(fc.nat(), { maxLength: 12 }),
      async (frames, cuts) => {
        expect(await collect(cutAt(join(frames), cuts))).toEqual(frames);
      },
    ),
  );
});

test('a stream that ends inside a frame is refused, at every byte', async () => {
  const bytes = encodeArchiveFrame({ type: 'data' }, Buffer.from('content'));
  for (let length = 1; length < bytes.length; length += 1) {
    await expect(collect([bytes.subarray(0, length)])).rejects.toThrow('ends in the middle of a frame');
  }
  expect(await collect([bytes, new Uint8Array(0)])).toHaveLength(1);
});

test('a piece of the greatest length passes, one byte more is refused before it arrives', async () => {
  const largest = encodeArchiveFrame({ type: 'data' }, new Uint8Array(archivePieceBytesMax));
  expect((await collect(cutAt(largest, [5, 70_000, 140_000])))[0]?.payload).toHaveLength(262_144);
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32BE(15, 0);
  prefix.writeUInt32BE(262_145, 4);
  await expect(collect([prefix])).rejects.toThrow('an archive payload of 262145 bytes');
  prefix.writeUInt32BE(65_537, 0);
  await expect(collect([prefix])).rejects.toThrow('an archive header of 65537 bytes');
});

const rawFrame = (text: Buffer | string): Uint8Array => {
  const head = Buffer.from(text);
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32BE(head.length, 0);
  return Buffer.concat([prefix, head]);
};

test.each([
  ['no JSON', 'begin'],
  ['no object', '"begin"'],
  ['a type there is not', '{"type":"hardlink","path":"a"}'],
  ['a path of nothing', '{"type":"directory","path":"","mode":493}'],
  ['a path over its length', `{"type":"directory","path":"${'a'.repeat(4097)}","mode":493}`],
  ['a mode with a set-uid bit', '{"type":"directory","path":"a","mode":2541}'],
  ['a negative size', '{"type":"file-end","size":-1,"isWhole":true}'],
  ['a size that is no whole number', '{"type":"file-end","size":1.5,"isWhole":true}'],
  ['a hash in capitals', `{"type":"file-end","size":1,"isWhole":true,"sha256":"${'A'.repeat(64)}"}`],
  ['a file that is "same" and not', '{"type":"file","path":"a","mode":1,"mtimeMs":0,"size":0,"same":false}'],
  ['a header that is not UTF-8', Buffer.from('{"type":"left-out","path":"\xff","reason":""}', 'latin1')],
])('%s is refused', async (_, text) => {
  await expect(collect([rawFrame(text)])).rejects.toThrow();
});

test('for any bytes the reader ends with frames or with an error', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 64 })), async (chunks) => {
      const outcome = await collect(chunks).catch((cause: unknown) => cause);
      expect(Array.isArray(outcome) || outcome instanceof Error).toBe(true);
    }),
  );
});
