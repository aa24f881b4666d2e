/**
 * Text of a program while it is written, in the same frames as a model's text: best effort, since the whole text follows in the
 * log.
 */
import { unnumberedFrame } from '../../../contracts/frames.ts';
import type { RuntimeDelta } from '../../../domain/runtime.ts';
import type { Deps } from '../../deps.ts';
import { openTextBatches } from '../../events/text-batches.ts';
import type { TurnContext } from '../holder/turn-context.ts';

export type DeltaRelay = {
  readonly push: (delta: RuntimeDelta) => void;
  readonly flush: () => Promise<void>;
};

export const openDeltaRelay = ({ world }: Deps<'world'>, { publisher, session }: TurnContext): DeltaRelay => {
  const relay = openTextBatches(
    { publisher, world, lengthOf: (text) => text.length },
    (key: `${RuntimeDelta['kind']} ${string}`, piece) => {
      const [kind, messageId = ''] = key.split(' ');
      const type = kind === 'text' ? 'delta' : 'reasoning_delta';
      return unnumberedFrame(type, { sessionId: session.id, at: world.now(), data: { messageId, ...piece } });
    },
  );
  return {
    push: ({ kind, messageId, offset, text }) => relay.push(`${kind} ${messageId}`, { offset, text }),
    flush: relay.flush,
  };
};
