/**
 * DER as certificates need it (ITU-T X.690): written, never read. The values are the program's own; the only values of a client
 * are names of hosts that were parsed before.
 */

const tags = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

const shortLengthMax = 127;

const lengthOf = (bytes: number): Buffer => {
  if (bytes <= shortLengthMax) return Buffer.from([bytes]);
  const hex = bytes.toString(16);
  const digits = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([0x80 | digits.length]), digits]);
};

export const tagged = (tag: number, ...contents: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
};

export const sequence = (...items: readonly Buffer[]): Buffer => tagged(tags.sequence, ...items);
export const set = (...items: readonly Buffer[]): Buffer => tagged(tags.set, ...items);
export const octets = (content: Buffer): Buffer => tagged(tags.octetString, content);
export const text = (content: string): Buffer => tagged(tags.utf8String, Buffer.from(content));
export const yes = Buffer.from([0x01, 0x01, 0xff]);

/** Not negative; the first bit of its bytes is a sign. */
export const unsigned = (content: Buffer): Buffer => {
  const first = content.findIndex((byte) => byte !== 0);
  const bytes = first === -1 ? Buffer.from([0]) : content.subarray(first);
  const isHigh = (bytes[0] ?? 0) >= 0x80;
  return tagged(tags.integer, isHigh ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
};

/** `unused`: the bits at the end that do not count. */
export const bits = (content: Buffer, unused = 0): Buffer =>
  tagged(tags.bitString, Buffer.from([unused]), content);

export const objectId = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(tags.objectId, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
};

const base128 = (value: number): readonly number[] => {
  const groups = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) groups.unshift((rest & 0x7f) | 0x80);
  return groups;
};

export const time = (epochMs: number): Buffer =>
  tagged(
    tags.generalizedTime,
    Buffer.from(`${new Date(epochMs).toISOString().replace(/\D/g, '').slice(0, 14)}Z`),
  );
