/**
 * The frame: one JSON header and one binary payload, each with its length in front.
 *
 * Both ends of the pipe between server and runner speak it. The reader refuses a frame over its bounds
 * before it has been read, because the runner shares its identity with untrusted code. So does the writer, since a frame that
 * the other end refuses ends the connection, and with it everything else that uses it.
 */
export type Frame = { readonly header: unknown; readonly payload: Buffer };

/** Two unsigned 32-bit big-endian lengths: of the header, of the payload. */
const prefixBytes = 8;
const headerBytesMax = 256 * 1024;
const payloadBytesMax = 8 * 1_048_576;

const empty = Buffer.alloc(0);

export const encodeFrame = (header: object, payload: Buffer = empty): Buffer =>
  Buffer.concat([encodeFrameStart(header, payload.length), payload]);

/** All of a frame but its payload, for a payload that is not to be copied. */
export const encodeFrameStart = (header: object, payloadBytes: number): Buffer => {
  const head = Buffer.from(JSON.stringify(header));
  refuseOver(head.length, payloadBytes);
  const prefix = Buffer.allocUnsafe(prefixBytes);
  prefix.writeUInt32BE(head.length, 0);
  prefix.writeUInt32BE(payloadBytes, 4);
  return Buffer.concat([prefix, head]);
};

/** Gives back a function that takes the bytes as they come and calls `deliver` per whole frame; it throws on a frame that breaks the bounds. */
export const createFrameReader = (deliver: (frame: Frame) => void): ((chunk: Buffer) => void) => {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let needed = prefixBytes;
  return (chunk) => {
    chunks.push(chunk);
    bytes += chunk.length;
    // Chunks are joined only when a frame is whole: joining at each chunk would copy a large frame again and again.
    while (bytes >= needed) {
      const buffer = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, bytes);
      chunks = [buffer];
      needed = frameBytes(buffer);
      if (bytes < needed) return;
      deliver(decodeFrame(buffer.subarray(0, needed)));
      chunks = [buffer.subarray(needed)];
      bytes -= needed;
      needed = prefixBytes;
    }
  };
};

const frameBytes = (buffer: Buffer): number => {
  const header = buffer.readUInt32BE(0);
  const payload = buffer.readUInt32BE(4);
  refuseOver(header, payload);
  return prefixBytes + header + payload;
};

const refuseOver = (header: number, payload: number): void => {
  if (header > headerBytesMax) throw new Error(`a frame header of ${header} bytes`);
  if (payload > payloadBytesMax) throw new Error(`a frame payload of ${payload} bytes`);
};

const decodeFrame = (frame: Buffer): Frame => {
  const end = prefixBytes + frame.readUInt32BE(0);
  return { header: JSON.parse(frame.toString('utf8', prefixBytes, end)), payload: frame.subarray(end) };
};
