/**
 * Answers to the frames of a client wait until the client was greeted: nothing reaches it before `system:ready`. A function
 * looks at a connection only in its first minute, and only once.
 */
import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import { connectMsMax } from '../../domain/limits.ts';
import { awaitsGreeting } from '../../domain/subscriber.ts';
import type { Deps } from '../deps.ts';

/** The frame of a client, by the gateway's clock. */
type Received = {
  readonly connectionId: ConnectionId;
  /** Undefined: a connection without one has no such greeting. */
  readonly sessionId: SessionId | undefined;
  readonly connectedAt: number;
  readonly acceptedAt: number;
};

/** False when the greeting has not come in time: the connection is to be closed. */
export type AwaitGreeting = (received: Received) => Promise<boolean>;

/** Of the 29 s that the gateway gives a frame. */
const waitMsMax = 10_000;
const pauseMs = 50;
const rememberedMax = 1000;

export const openGreetings = (ports: Deps<'connections' | 'world'>): AwaitGreeting => {
  const known = new Set<ConnectionId>();
  return async ({ connectionId: id, sessionId, connectedAt, acceptedAt }) => {
    const isOld = acceptedAt - connectedAt >= connectMsMax;
    if (sessionId === undefined || isOld || known.has(id)) return true;
    if (!(await comes(ports, sessionId, id))) return false;
    if (known.size >= rememberedMax) known.clear();
    known.add(id);
    return true;
  };
};

const comes = async (
  { connections, world }: Deps<'connections' | 'world'>,
  sessionId: SessionId,
  id: ConnectionId,
): Promise<boolean> => {
  for (const until = world.now() + waitMsMax; ; await world.sleep(pauseMs)) {
    const subscriber = await connections.subscriber(sessionId, id);
    if (subscriber === undefined || !awaitsGreeting(subscriber, world.now())) return true;
    if (world.now() >= until) return false;
  }
};
