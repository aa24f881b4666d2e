/** Closes the sockets that a credential has opened (AC12), each after the error that a frame of its own would have met. */
import { unnumberedFrame } from '../../contracts/frames.ts';
import type { ConnectionId } from '../../domain/ids.ts';
import { errorBody } from '../../errors.ts';
import type { Deps } from '../deps.ts';
import { unauthenticated } from './authenticate.ts';

export type CloseDeps = Deps<'connections' | 'sockets' | 'world' | 'correlation'>;

/** Asked once the record is deleted: a connection that opens after that is refused, and one that was open is found. */
export const closeOpened = async (ports: CloseDeps, hash: string): Promise<void> => {
  const opened = await ports.connections.openedBy(hash);
  await Promise.all(opened.map((connection) => closeOne(ports, connection)));
};

const closeOne = async (
  { connections, sockets, world, correlation }: CloseDeps,
  id: ConnectionId,
): Promise<void> => {
  const { sessionId = null } = (await connections.get(id)) ?? {};
  const data = errorBody(unauthenticated(), correlation.id());
  await sockets.post(id, JSON.stringify(unnumberedFrame('error', { sessionId, at: world.now(), data })));
  await sockets.close(id);
};
