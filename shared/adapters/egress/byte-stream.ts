/** A connection of the relay as a stream of Node, for its TLS and its HTTP. */
import { Duplex } from 'node:stream';
import type { EgressConnection } from '#shared/ports/egress.ts';

export const streamOf = (connection: EgressConnection): Duplex => {
  const reading = connection.incoming[Symbol.asyncIterator]();
  const stream: Duplex = new Duplex({
    // A host that ends its side may still be written to.
    allowHalfOpen: true,
    read: () => {
      reading.next().then(
        ({ done, value }) => stream.push(done ? null : value),
        (error: Error) => stream.destroy(error),
      );
    },
    write: (chunk: Uint8Array, _encoding, done) => {
      connection.write(chunk).then(() => done(), done);
    },
    final: (done) => {
      connection.end();
      done();
    },
    destroy: (error, done) => {
      connection.destroy();
      done(error);
    },
  });
  // It may break at any moment, also when nothing waits for it.
  stream.on('error', () => undefined);
  return stream;
};
