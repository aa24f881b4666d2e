/** Fails the calls of a turn whose time with somebody outside is over. */
import { waitingCalls } from '../../domain/turn/pending-work.ts';
import type { World } from '../../ports/world.ts';
import { advance, type Desk, type DeskLimits, type DeskPorts, isHeld } from './desk.ts';
import type { TurnWatch } from './turn-watch.ts';

export type ExpirePorts = DeskPorts & { readonly world: World };

/** Undefined when none is over. */
export const expireWaits = async (
  ports: ExpirePorts,
  desk: Desk,
  { limits, watch }: { readonly limits: DeskLimits; readonly watch: Pick<TurnWatch, 'expect'> },
): Promise<Desk | undefined> => {
  const at = ports.world.now();
  let current: Desk | undefined;
  for (const { callId, wait } of waitingCalls(desk.turn.state)) {
    if (wait.until > at) continue;
    const message = `nobody answered in ${Math.round((wait.until - wait.since) / 1000)} s`;
    const event = { type: 'call-failed' as const, at, callId, code: 'execution_timeout', message };
    const before = current ?? desk;
    watch.expect(before.turn.version + 1);
    current = await advance(ports, { desk: before, event, limits });
    if (!isHeld(current)) return current;
  }
  return current;
};
