/**
 * A stream of the relay as a socket: what a program of the sandbox writes and reads, with the waiting of both sides.
 *
 * Bytes count as taken when the reader has taken them, not when they have come.
 */
import { Duplex, type Writable } from 'node:stream';
import type { RelayTarget } from '#shared/contracts/relay/frame.ts';
import type { RelayStream, StreamSink } from '#shared/contracts/relay/peer.ts';
import { relayPairingMsMax } from '#shared/domain/relay/limits.ts';
import { programLeft, RelayRefusal, type SandboxRelay } from './relay.ts';
import { retryWithNextHolder } from './retry-with-next-holder.ts';

const unanswered = { status: 504, message: 'the platform did not answer in time' };

/**
 * Resolves when the platform has accepted the stream; throws a `RelayRefusal` with its reason otherwise, and when the program has left.
 * A stream that was not accepted when its holder went has carried nothing: it is opened again.
 */
export const openRelaySocket = (
  relay: SandboxRelay,
  target: RelayTarget,
  left: AbortSignal,
): Promise<Duplex> => retryWithNextHolder(() => openOnce(relay, target, left));

/** Aborted when the connection of a program closes, or has closed. */
export const leftBy = (connection: Writable): AbortSignal => {
  const left = new AbortController();
  if (connection.closed || connection.destroyed) left.abort();
  else connection.once('close', () => left.abort());
  return left.signal;
};

const openOnce = async (relay: SandboxRelay, target: RelayTarget, left: AbortSignal): Promise<Duplex> => {
  const arrived: Uint8Array[] = [];
  const accepted = Promise.withResolvers<void>();
  accepted.promise.catch(() => undefined);
  let stream: RelayStream | undefined;
  let isEnded = false;
  let wants = false;

  const deliver = (socket: Duplex): void => {
    while (wants) {
      const next = arrived.shift();
      if (next === undefined) {
        if (isEnded) socket.push(null);
        return;
      }
      wants = socket.push(next);
      stream?.take(next.length);
    }
  };
  const socket = new Duplex({
    read() {
      wants = true;
      deliver(socket);
    },
    write(chunk: Buffer, _encoding, done) {
      const writing = stream?.write(chunk) ?? Promise.resolve(false);
      writing.then(
        (isSent) => done(isSent ? null : new RelayRefusal(programLeft)),
        (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
      );
    },
    final(done) {
      stream?.end();
      done();
    },
    destroy(error, done) {
      arrived.length = 0;
      stream?.reset(programLeft);
      done(error);
    },
  });
  socket.on('error', () => undefined);
  const sink: StreamSink = {
    onAccepted: accepted.resolve,
    onData: (bytes) => {
      arrived.push(bytes);
      deliver(socket);
    },
    onEnd: () => {
      isEnded = true;
      deliver(socket);
    },
    onReset: (reason) => {
      const refusal = new RelayRefusal(reason);
      accepted.reject(refusal);
      socket.destroy(refusal);
    },
  };
  const leave = (): void => {
    accepted.reject(new RelayRefusal(programLeft));
    socket.destroy();
  };
  stream = await relay.open(target, sink, left);
  left.addEventListener('abort', leave, { once: true });
  const timer = setTimeout(() => {
    accepted.reject(new RelayRefusal(unanswered));
    socket.destroy();
  }, relayPairingMsMax).unref();
  try {
    await accepted.promise;
  } finally {
    clearTimeout(timer);
    left.removeEventListener('abort', leave);
  }
  return socket;
};
