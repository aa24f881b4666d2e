/** WebSocket frames as bytes, right and wrong ones (RFC 6455, section 5.2): no client library would send the wrong. */
export type Frame = {
  readonly opcode: number;
  readonly isLast: boolean;
  /** One character a byte. */
  readonly payload: string;
  readonly isMasked?: boolean;
  readonly reservedBits?: number;
};

export const opcodes = { continuation: 0, text: 1, binary: 2, unassigned: 3, close: 8, ping: 9 } as const;

const shortMax = 125;
const mediumMax = 65_535;
/** Any will do; a mask of zeros leaves the payload as it is. */
const mask = [0, 0, 0, 0];

export const bytesOfFrame = ({
  opcode,
  isLast,
  payload,
  isMasked = true,
  reservedBits = 0,
}: Frame): Buffer => {
  const { length } = payload;
  const first = (isLast ? 0x80 : 0) | (reservedBits << 4) | opcode;
  const maskBit = isMasked ? 0x80 : 0;
  const head = [first, maskBit | (length <= shortMax ? length : length <= mediumMax ? 126 : 127)];
  const long = Buffer.alloc(length <= shortMax ? 0 : length <= mediumMax ? 2 : 8);
  if (long.length === 2) long.writeUInt16BE(length);
  if (long.length === 8) long.writeBigUInt64BE(BigInt(length));
  return Buffer.concat([
    Buffer.from(head),
    long,
    Buffer.from(isMasked ? mask : []),
    Buffer.from(payload, 'latin1'),
  ]);
};

/** One message in so many frames. */
export const fragments = (payload: string, pieces: number): readonly Frame[] => {
  const size = Math.max(1, Math.ceil(payload.length / pieces));
  const count = Math.max(1, Math.ceil(payload.length / size));
  return Array.from({ length: count }, (_, index) => ({
    opcode: index === 0 ? opcodes.text : opcodes.continuation,
    isLast: index === count - 1,
    payload: payload.slice(index * size, (index + 1) * size),
  }));
};
