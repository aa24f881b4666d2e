/**
 * Streams text to subscribers in batches: text that arrives while a batch is on its way waits for the next, which is sent after a
 * short time, or as soon as it fills a frame.
 *
 * One batch is in flight at a time, so slow subscribers slow the batches and never grow a queue of posts.
 * Best effort by design: the whole text follows in the log.
 */
import type { Frame } from '../../contracts/frames.ts';
import { deltaBatchMs } from '../../domain/limits.ts';
import type { World } from '../../ports/world.ts';
import type { Publisher } from './publisher.ts';
import { frameTextBytesMax, type Piece, slices } from './streamed-text.ts';

type Waiting = { readonly offset: number; text: string };

export type BatchOptions = {
  readonly publisher: Publisher;
  readonly world: World;
  /** In the unit that offsets count: characters of a delta, bytes of a program's output. */
  readonly lengthOf: (text: string) => number;
};

export type TextBatches<Key extends string> = {
  readonly push: (key: Key, piece: Piece) => void;
  /** Everything pushed so far has been sent; it waits neither for more to gather nor for what others push concurrently. */
  readonly flush: () => Promise<void>;
};

export const openTextBatches = <Key extends string>(
  { publisher, world, lengthOf }: BatchOptions,
  frame: (key: Key, piece: Piece) => Frame,
): TextBatches<Key> => {
  const waiting = new Map<Key, Waiting>();
  let isSending = false;
  /** Ends the wait for more. */
  let gathering = new AbortController();
  const endWait = (): void => {
    // Each abort makes an error of its own, with its stack, also of a signal that is aborted.
    if (!gathering.signal.aborted) gathering.abort();
  };

  /** All waiting text, without the part that fills no frame where that is to wait for more. */
  const takeBatch = ({ keepsRest }: { readonly keepsRest: boolean }): readonly Frame[] => {
    const texts = [...waiting];
    waiting.clear();
    return texts.flatMap(([key, piece]) => {
      const pieces = slices(piece, lengthOf);
      const rest = keepsRest && pieces.length > 1 ? pieces.pop() : undefined;
      if (rest !== undefined) waiting.set(key, rest);
      return pieces.map((slice) => frame(key, slice));
    });
  };

  const send = async (): Promise<void> => {
    isSending = true;
    while (waiting.size > 0) {
      const keepsRest = gathering.signal.aborted;
      gathering = new AbortController();
      await publisher.publish(takeBatch({ keepsRest }));
      if (!gathering.signal.aborted) await world.sleep(deltaBatchMs, gathering.signal);
    }
    isSending = false;
  };

  return {
    push: (key, { offset, text }) => {
      const before = waiting.get(key);
      if (before === undefined) waiting.set(key, { offset, text });
      else before.text += text;
      if (!isSending) void send();
      else if ((before?.text ?? text).length >= frameTextBytesMax) endWait();
    },
    flush: async () => {
      // Frames are published in order: the batch on its way comes before this one.
      await publisher.publish(takeBatch({ keepsRest: false }));
      endWait();
    },
  };
};
