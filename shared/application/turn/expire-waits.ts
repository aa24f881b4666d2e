/** Fails the calls of a turn whose time with somebody outside is over. */
import { callsWithCallers } from '../../domain/turn/pending-work.ts';
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
  const over = callsWithCallers(desk.turn.state).filter(({ wait }) => wait.until <= at);
  let current: Desk | undefined;
  for (const [index, { callId, wait }] of over.entries()) {
    const message = `nobody answered in ${Math.round((wait.until - wait.since) / 1000)} s`;
    const event = { type: 'call-failed' as const, at, callId, code: 'execution_timeout', message };
    const before = current ?? desk;
    watch.expect(before.turn.version + 1);
    const keeps = index < over.length - 1;
    current = await advance(ports, { desk: before, event, limits, keeps });
    if (!isHeld(current)) return current;
  }
  return current;
};
