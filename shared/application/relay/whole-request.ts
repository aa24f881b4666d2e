/** Collects the whole request of a stream that a sandbox has opened; one over its bound is refused as soon as it passes it. */
import { joinBytes, type RelayReset } from '../../contracts/relay/frame.ts';
import type { RelayStream, StreamSink } from '../../contracts/relay/peer.ts';

type Bound = {
  readonly bytesMax: number;
  readonly tooLong: RelayReset;
  /** The signal is aborted when the program no longer wants an answer. */
  readonly onWhole: (bytes: Uint8Array, signal: AbortSignal) => void;
  /** It ended before it was whole. */
  readonly onBrokenOff?: () => void;
};

export const collectRequest = (
  stream: RelayStream,
  { bytesMax, tooLong, onWhole, onBrokenOff = () => undefined }: Bound,
): StreamSink => {
  const left = new AbortController();
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  let isWhole = false;
  stream.accept();
  return {
    onData: (piece) => {
      bytes += piece.length;
      if (bytes > bytesMax) {
        pieces = [];
        stream.reset(tooLong);
        onBrokenOff();
        return;
      }
      pieces.push(piece);
      stream.take(piece.length);
    },
    onEnd: () => {
      isWhole = true;
      const whole = joinBytes(pieces, bytes);
      pieces = [];
      onWhole(whole, left.signal);
    },
    onReset: () => {
      pieces = [];
      left.abort();
      if (!isWhole) onBrokenOff();
    },
  };
};
