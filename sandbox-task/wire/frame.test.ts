import { expect, test } from 'vitest';
import { createFrameReader, encodeFrame, type Frame } from './frame.ts';

const read = (...chunks: Buffer[]): Frame[] => {
  const frames: Frame[] = [];
  const take = createFrameReader((frame) => frames.push(frame));
  for (const chunk of chunks) take(chunk);
  return frames;
};

test('frames are decoded however they are split', () => {
  const bytes = Buffer.concat([
    encodeFrame({ type: 'a' }, Buffer.from('one')),
    encodeFrame({ type: 'b' }),
    encodeFrame({ text: 'ü' }, Buffer.from([0, 255])),
  ]);
  const expected = [
    { header: { type: 'a' }, payload: Buffer.from('one') },
    { header: { type: 'b' }, payload: Buffer.alloc(0) },
    { header: { text: 'ü' }, payload: Buffer.from([0, 255]) },
  ];
  expect(read(bytes)).toEqual(expected);
  expect(read(...Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(expected);
});

test('a frame over the limits is refused from its length alone', () => {
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32BE(262_145, 0);
  expect(() => read(prefix)).toThrow('a frame header of 262145 bytes');
  prefix.writeUInt32BE(2, 0);
  prefix.writeUInt32BE(8_388_609, 4);
  expect(() => read(prefix)).toThrow('a frame payload of 8388609 bytes');
});

test('what a reader would refuse is not written', () => {
  expect(() => encodeFrame({ text: 'x'.repeat(262_144) })).toThrow('a frame header of 262155 bytes');
  expect(() => encodeFrame({}, Buffer.alloc(8_388_609))).toThrow('a frame payload of 8388609 bytes');
});
