/**
 * Gives calls to the clients that offered their tools: each is asked in the commit that says that it waits, and from
 * then on somebody outside ends it. A client that is gone fails its call at once.
 */
import type { CallerRoute } from '../../domain/asked-call.ts';
import { callerAnswerMs } from '../../domain/caller-tool.ts';
import type { LogEntry } from '../../domain/event-log.ts';
import type { TurnEvent } from '../../domain/turn/turn.ts';
import type { World } from '../../ports/world.ts';
import { advance, type Desk, type DeskLimits, type DeskPorts, isHeld } from './desk.ts';
import type { ToolEffect } from './run-call.ts';
import type { TurnWatch } from './turn-watch.ts';

export type HandPorts = DeskPorts & { readonly world: World };

export type HandedCall = ToolEffect & { readonly route: CallerRoute };

export const isHandedOut = (effect: ToolEffect): effect is HandedCall => effect.route?.kind === 'caller';

export const handOut = async (
  ports: HandPorts,
  { desk, limits, watch }: { readonly desk: Desk; readonly limits: DeskLimits; readonly watch: TurnWatch },
  calls: readonly HandedCall[],
): Promise<Desk> => {
  let current = desk;
  for (const call of calls) {
    const event = eventFor(ports, current, call);
    watch.expect(current.turn.version + 1);
    current = await advance(ports, { desk: current, event, limits });
    if (!isHeld(current)) return current;
  }
  return current;
};

const eventFor = (
  { world }: HandPorts,
  { callers }: Desk,
  { callId, route, args }: HandedCall,
): TurnEvent => {
  const at = world.now();
  const caller = callers.find(({ callerId }) => callerId === route.caller);
  if (caller?.tools.every(({ name }) => name !== route.tool) ?? true)
    return {
      type: 'call-failed',
      at,
      callId,
      code: 'not_found',
      message: `${route.caller} does not offer it any more`,
    };
  const requestId = world.uuid();
  const said: readonly LogEntry[] = [
    { type: 'caller_tool:request', data: { requestId, name: route.tool, args } },
  ];
  const wait = { id: requestId, since: at, until: at + callerAnswerMs };
  return { type: 'call-handed', at, callId, wait, said };
};
