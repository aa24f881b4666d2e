/** Collects the whole request of a stream that a sandbox has opened; one over its bound is refused as soon as it passes it. */
import { joinBytes, type RelayReset } from '../../contracts/relay/frame.ts';
import type { RelayStream, StreamSink } from '../../contracts/relay/peer.ts';

type Bound = {
  readonly bytesMax: number;
  readonly tooLong: RelayReset;
  /** The signal is aborted when the program wants no answer any more. */
  readonly onWhole: (bytes: Uint8Array, signal: AbortSignal) => void;
};

export const collectRequest = (stream: RelayStream, { bytesMax, tooLong, onWhole }: Bound): StreamSink => {
  const left = new AbortController();
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  stream.accept();
  return {
    onData: (piece) => {
      bytes += piece.length;
      if (bytes > bytesMax) {
        pieces = [];
        stream.reset(tooLong);
        return;
      }
      pieces.push(piece);
      stream.take(piece.length);
    },
    onEnd: () => {
      const whole = joinBytes(pieces, bytes);
      pieces = [];
      onWhole(whole, left.signal);
    },
    onReset: () => left.abort(),
  };
};
