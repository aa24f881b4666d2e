/** The pacer: a program that writes more messages than anybody reads is not read for the rest of the moment, and waits at its full pipe. */
import type { Readable } from 'node:stream';

const windowMs = 100;
/** Ten thousand a second keep one processor a little busy. */
const messagesMax = 1000;

/** Gives what is to be called per message. */
export const createPacer = (stream: Readable): (() => void) => {
  let messages = 0;
  let isWaiting = false;
  let startedAt = 0;
  return () => {
    const now = performance.now();
    if (now - startedAt >= windowMs) {
      startedAt = now;
      messages = 0;
    }
    messages += 1;
    if (messages <= messagesMax || isWaiting) return;
    isWaiting = true;
    stream.pause();
    setTimeout(() => {
      isWaiting = false;
      stream.resume();
    }, windowMs).unref();
  };
};
