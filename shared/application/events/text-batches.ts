/**
 * Streams text to subscribers in batches: text that arrives while a batch is on its way waits for the next.
 *
 * One batch is in flight at a time, so slow subscribers slow the batches and never grows a queue of posts.
 * Best effort by design: the whole text follows in the log.
 */
import type { Frame } from '../../contracts/frames.ts';
import { deltaBatchMs } from '../../domain/limits.ts';
import { cutBytes } from '../../domain/text.ts';
import type { World } from '../../ports/world.ts';
import type { Publisher } from './publisher.ts';

/** UTF-8 bytes of text one frame carries; JSON escapes may grow them and a frame is at most 32 KB. */
const frameTextBytesMax = 8 * 1024;

type Piece = { readonly offset: number; readonly text: string };

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
  const waiting = new Map<Key, { offset: number; text: string }>();
  let isSending = false;
  let gathering = new AbortController();

  const takeBatch = (): readonly Frame[] => {
    const batch = [...waiting].flatMap(([key, piece]) =>
      slices(piece, lengthOf).map((slice) => frame(key, slice)),
    );
    waiting.clear();
    return batch;
  };

  const send = async (): Promise<void> => {
    isSending = true;
    while (waiting.size > 0) {
      await publisher.publish(takeBatch());
      gathering = new AbortController();
      await world.sleep(deltaBatchMs, gathering.signal);
    }
    isSending = false;
  };

  return {
    push: (key, { offset, text }) => {
      const before = waiting.get(key);
      waiting.set(key, before === undefined ? { offset, text } : { ...before, text: before.text + text });
      if (!isSending) void send();
    },
    flush: async () => {
      // Frames are published in order: the batch on its way comes before this one.
      await publisher.publish(takeBatch());
      gathering.abort();
    },
  };
};

const slices = (piece: Piece, lengthOf: (text: string) => number): readonly Piece[] => {
  const text = cutBytes(piece.text, frameTextBytesMax);
  if (text.length === piece.text.length) return [piece];
  const rest = { offset: piece.offset + lengthOf(text), text: piece.text.slice(text.length) };
  return [{ offset: piece.offset, text }, ...slices(rest, lengthOf)];
};
