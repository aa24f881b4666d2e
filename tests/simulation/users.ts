/** Shared parts of the users of a run: their identity, when they stop, how they connect and send messages. */

import { findSession } from '#shared/application/access/find-session.ts';
import { openConnection } from '#shared/application/connection/open-connection.ts';
import type { SessionDefaults } from '#shared/application/session/create-session.ts';
import { acceptMessage } from '#shared/application/turn/requests/accept-message.ts';
import type { EffectPolicy } from '#shared/domain/effect-rule.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import type { ApprovalMode } from '#shared/domain/session.ts';
import { longText } from './long-text.ts';
import type { Platform } from './platform.ts';
import type { Ports } from './ports.ts';
import { principal } from './settings.ts';
import type { Simulation } from './world.ts';

export { principal } from './settings.ts';

const triesMax = 4;
const longMessageBytesMax = 1_200_000;

export type Users = {
  /** Their last word was said when this moment comes; after it they only answer. */
  readonly until: number;
  readonly platform: Platform;
};

const minuteMs = 60_000;

/** Some come just when the janitor does. */
export const pauseSome = (sim: Simulation, milliseconds: number): Promise<void> => {
  if (!sim.random.chance(0.2)) return sim.pause(milliseconds);
  return sim.pause(minuteMs - (sim.now() % minuteMs) + sim.random.int(0, 150));
};

export const defaultsOf = ({ defaults }: Platform): SessionDefaults => defaults;

export const found = (ports: Ports, id: SessionId) =>
  findSession(ports.turns, { id, principal, intent: 'write' });

export const connect = async (
  { platform, until }: Users,
  sessionId: SessionId,
  options: { readonly approvals?: ApprovalMode; readonly effects?: EffectPolicy; readonly since?: number },
): Promise<ConnectionId> => {
  const { sim, clients } = platform;
  const first = `c-${sim.random.uuid()}` as ConnectionId;
  let connectionId = first;
  for (let attempt = 0; attempt < triesMax && sim.now() < until; attempt += 1) {
    // As the gateway does, which names each of them anew.
    clients.delete(connectionId);
    const id = (attempt === 0 ? first : `${first}-${attempt}`) as ConnectionId;
    connectionId = id;
    clients.set(id, []);
    const { status } = await platform.request('connect', async (ports) => {
      const { since, ...session } = options;
      const isNew = attempt === 0 && since === undefined;
      const request = { connectionId: id, sessionId, isNew, principal, options: session, since };
      await openConnection(ports, request, defaultsOf(platform));
      await ports.invoker.connected(id);
    });
    if (status === 'done') break;
    await sim.pause(500);
  }
  return connectionId;
};

export const sayOnce = (
  platform: Platform,
  id: SessionId,
  said: { readonly messageId: string; readonly connectionId?: ConnectionId },
) =>
  platform.request('message', async (ports) => {
    const { session } = await found(ports, id);
    const gateway = platform.sim.random.chance(0.5) ? { acceptedAt: platform.sim.now() } : {};
    const { isBig, further } = platform.sim;
    return acceptMessage(ports, session, {
      text: isBig && further.chance(0.4) ? longText(further, longMessageBytesMax) : 'please',
      ...said,
      ...gateway,
    });
  });
