/**
 * Two sockets joined into one connection: what the one says the other hears, to the last byte.
 *
 * Each side ends when its counterpart has ended, after what was still on its way; a side that breaks off
 * breaks the other off. Both must be able to stay half open.
 */
import type { Duplex } from 'node:stream';

export const joinSockets = (one: Duplex, other: Duplex): void => {
  passOn(one, other);
  passOn(other, one);
};

const passOn = (from: Duplex, to: Duplex): void => {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => {
    if (!from.readableEnded) to.destroy();
  });
};
