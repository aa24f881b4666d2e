/**
 * The text of the answer that is on its way, as it was published: a subscriber that comes in its middle gets it from its beginning.
 *
 * It is kept until the event that has the whole is published. Of text whose beginning this function did not publish nothing is kept.
 */
import { type Frame, unnumberedFrame } from '../../contracts/frames.ts';
import type { ConnectionId } from '../../domain/ids.ts';
import { frameBytesMax } from '../../domain/limits.ts';
import { cutJsonBytes } from '../../domain/text.ts';

/** Bytes that the text of one frame takes in JSON. The rest is for its other fields. */
export const frameTextBytesMax = frameBytesMax - 2 * 1024;

export type Piece = { readonly offset: number; readonly text: string };

/** The piece in parts that each fit a frame. */
export const slices = (piece: Piece, lengthOf: (text: string) => number): Piece[] => {
  const all: Piece[] = [];
  for (let { offset, text: rest } = piece; rest !== ''; ) {
    const text = cutJsonBytes(rest, frameTextBytesMax);
    all.push({ offset, text });
    offset += lengthOf(text);
    rest = rest.slice(text.length);
  }
  return all;
};

export type StreamedText = {
  /** These are published now. */
  readonly take: (frames: readonly Frame[]) => void;
  /** Texts for a subscriber that came later: it got none of what was published. From now on it is one of those that have it. */
  readonly missedBy: (taking: readonly Subscriber[], at: number) => (id: ConnectionId) => readonly string[];
  /** One of these was not there, or took nothing, when it was published. */
  readonly isNewTo: (subscribers: readonly Subscriber[]) => boolean;
};

type Subscriber = { readonly id: ConnectionId };

type StreamType = 'reasoning_delta' | 'delta';
type Stream = Pick<Frame, 'sessionId'> & { readonly messageId: string; readonly text: string };

const streamOf: Partial<Record<Frame['type'], StreamType>> = {
  delta: 'delta',
  message: 'delta',
  reasoning_delta: 'reasoning_delta',
  reasoning: 'reasoning_delta',
};

export const openStreamedText = (): StreamedText => {
  /** One text of each type: an answer that is made again has another id, and its first piece replaces the one before. */
  const streams = new Map<StreamType, Stream>();
  let caughtUp: ReadonlySet<ConnectionId> = new Set();

  const add = (type: StreamType, { sessionId, data }: Frame, before = ''): void => {
    const text = before + data['text'];
    if (data['offset'] !== before.length) streams.delete(type);
    else streams.set(type, { sessionId, messageId: String(data['messageId']), text });
  };

  const takeFrame = (frame: Frame): void => {
    const { type, data } = frame;
    if (type === 'completion' || data['kind'] === 'model_retry') streams.clear();
    const stream = streamOf[type];
    if (stream === undefined) return;
    const before = streams.get(stream);
    const isSame = before?.messageId === data['messageId'];
    if (type === stream) add(type, frame, isSame ? before?.text : '');
    else if (isSame) streams.delete(stream);
  };

  const textsOf = (at: number): readonly string[] =>
    [...streams].flatMap(([type, { sessionId, messageId, text }]) =>
      slices({ offset: 0, text }, ({ length }) => length).map((piece) =>
        JSON.stringify(unnumberedFrame(type, { sessionId, at, data: { messageId, ...piece } })),
      ),
    );

  return {
    take: (frames) => frames.forEach(takeFrame),
    missedBy: (taking, at) => {
      const behind = new Set(taking.map(({ id }) => id)).difference(caughtUp);
      caughtUp = new Set(taking.map(({ id }) => id));
      const texts = behind.size === 0 ? [] : textsOf(at);
      return (id) => (behind.has(id) ? texts : []);
    },
    isNewTo: (subscribers) => subscribers.some(({ id }) => !caughtUp.has(id)),
  };
};
