/**
 * Forwards frames of a child session to the subscribers of its root: a call that a person must decide, and the end of that
 * wait. Nothing else is forwarded, so a client that waits for an answer of its own session never takes another's for it.
 */
import type { Frame } from '../../contracts/frames.ts';

/** Without a number: that log is another's. Undefined for a frame that is not forwarded. */
export const forwardedToRoot = (frame: Frame): Frame | undefined => {
  if (frame.type === 'tool:approval_required') return { ...frame, seq: null };
  const { callId } = frame.data;
  const isDecided = frame.type === 'tool:decided' && typeof callId === 'string' && isByHand(frame.data);
  if (!isDecided && frame.type !== 'completion') return undefined;
  return {
    ...frame,
    type: 'system',
    seq: null,
    data: { kind: 'child_settled', ...(isDecided ? { callId } : {}) },
  };
};

/** A call that a mode or a grant allowed never waited. */
const isByHand = ({ by }: Frame['data']): boolean => {
  const kind = typeof by === 'object' && by !== null && 'kind' in by ? by['kind'] : undefined;
  return kind === 'token' || kind === 'person';
};
