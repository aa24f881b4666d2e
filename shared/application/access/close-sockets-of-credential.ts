/** Closes the sockets that a credential has opened (AC12). Each first gets the error that its next frame would have got. */
import { unnumberedFrame } from '../../contracts/frames.ts';
import type { ConnectionId } from '../../domain/ids.ts';
import { errorBody } from '../../errors.ts';
import type { Deps } from '../deps.ts';
import { unauthenticated } from './authenticate.ts';

export type CloseDeps = Deps<'connections' | 'sockets' | 'world' | 'correlation' | 'telemetry'>;

/** Asked once the record is deleted: a connection that opens after that is refused, and one that was open is found. */
export const closeSocketsOfCredential = async (ports: CloseDeps, hash: string): Promise<void> => {
  const opened = await ports.connections.openedBy(hash);
  await settleAll(opened.map((connection) => closeOne(ports, connection)));
};

/** Waits for all, and only then fails if one has failed. */
export const settleAll = async (works: readonly Promise<unknown>[]): Promise<void> => {
  const failed = (await Promise.allSettled(works)).find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
};

/** A client that does not read gets no message, and is closed all the same. */
const closeOne = async (ports: CloseDeps, id: ConnectionId): Promise<void> => {
  try {
    await tellEnd(ports, id);
  } catch (error) {
    ports.telemetry.warn('a socket is closed without an error frame', { connection: id, error });
  }
  await ports.sockets.close(id);
};

const tellEnd = async (
  { connections, sockets, world, correlation }: CloseDeps,
  id: ConnectionId,
): Promise<void> => {
  const { sessionId = null } = (await connections.get(id)) ?? {};
  const data = errorBody(unauthenticated(), correlation.id());
  await sockets.post(id, JSON.stringify(unnumberedFrame('error', { sessionId, at: world.now(), data })));
};
