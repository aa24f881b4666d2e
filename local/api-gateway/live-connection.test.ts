/** The frame reader against frames cut at every possible place. */
import { expect, test } from 'vitest';
import { openFrameReader } from './live-connection.ts';

const frame = (bytes: number): Buffer => {
  const mask = 4;
  if (bytes <= 125) return Buffer.concat([Buffer.from([0x81, 0x80 | bytes]), Buffer.alloc(mask + bytes)]);
  const header = bytes <= 0xffff ? Buffer.alloc(4) : Buffer.alloc(10);
  header[0] = 0x81;
  header[1] = 0x80 | (bytes <= 0xffff ? 126 : 127);
  if (bytes <= 0xffff) header.writeUInt16BE(bytes, 2);
  else header.writeBigUInt64BE(BigInt(bytes), 2);
  return Buffer.concat([header, Buffer.alloc(mask + bytes)]);
};

const stream = (...sizes: number[]): Buffer => Buffer.concat(sizes.map(frame));

test.each([
  { sizes: [0, 1, 125, 126, 300], tooLong: false },
  { sizes: [300, 301], tooLong: true },
  { sizes: [5, 70_000], tooLong: true },
])('frames of $sizes bytes under a limit of 300', ({ sizes, tooLong }) => {
  const bytes = stream(...sizes);
  for (const step of [1, 2, 3, 7, 64, bytes.length]) {
    const reader = openFrameReader(300);
    let verdict = false;
    for (let at = 0; at < bytes.length; at += step) verdict = reader.read(bytes.subarray(at, at + step));
    expect(verdict).toBe(tooLong);
  }
});
