/** Opens a connection: finds or creates its session and stores it as a subscriber that is yet to be greeted. */

import { mayRead, mayWrite } from '../../domain/access.ts';
import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import { greetMsMax } from '../../domain/subscriber.ts';
import type { Connection } from '../../ports/connections.ts';
import { sessionNotFound } from '../access/find-session.ts';
import type { Deps, SessionDeps } from '../deps.ts';
import { createSession, type SessionDefaults, type SessionOptions } from '../session/create-session.ts';

export type OpenRequest = {
  readonly connectionId: ConnectionId;
  readonly sessionId: SessionId;
  /** The client named none: the id was made for this connection, and no other client can know it. */
  readonly isNew: boolean;
  readonly principal: Principal;
  readonly options: SessionOptions;
  readonly since?: number | undefined;
};

/**
 * A session is created where none is named. A named one that does not exist is answered as not found, as another
 * owner's is (AC2, AC7).
 */
export const openConnection = async (
  ports: SessionDeps,
  { connectionId, sessionId, isNew, principal, options, since }: OpenRequest,
  defaults: SessionDefaults,
): Promise<void> => {
  if (isNew) await makeSession(ports, { sessionId, principal, options, defaults });
  else await findNamed(ports, sessionId, principal);
  const connectedAt = ports.world.now();
  const connection: Connection = {
    id: connectionId,
    sessionId,
    principal,
    connectedAt,
    greetBy: connectedAt + greetMsMax,
    ...(since === undefined ? {} : { since }),
  };
  await ports.connections.put(connection);
};

/** A connection without a session: it receives the number of calls that wait for its person. */
export const openApprovalConnection = (
  { connections, world }: Deps<'connections' | 'world'>,
  { connectionId: id, principal }: Pick<OpenRequest, 'connectionId' | 'principal'>,
): Promise<void> => connections.put({ id, principal, connectedAt: world.now() });

const findNamed = async ({ sessions }: SessionDeps, id: SessionId, principal: Principal): Promise<void> => {
  const known = await sessions.get(id);
  if (known === undefined || !mayRead(principal, known)) throw sessionNotFound();
};

const makeSession = async (
  ports: SessionDeps,
  {
    sessionId: id,
    principal,
    options,
    defaults,
  }: {
    sessionId: SessionId;
    principal: Principal;
    options: SessionOptions;
    defaults: SessionDefaults;
  },
): Promise<void> => {
  const fleeting = { ...options, isFleeting: true as const };
  const made = await createSession(ports, { id, principal, options: fleeting, defaults });
  if (made !== undefined) return;
  const taken = await ports.sessions.get(id);
  if (taken === undefined || !mayWrite(principal, taken)) throw sessionNotFound();
};
