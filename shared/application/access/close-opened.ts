/** Closes the sockets that a credential has opened. */
import type { Deps } from '../deps.ts';

/** Asked once the record is deleted: a connection that opens after that is refused, and one that was open is found. */
export const closeOpened = async (
  { connections, sockets }: Deps<'connections' | 'sockets'>,
  hash: string,
): Promise<void> => {
  const opened = await connections.openedBy(hash);
  await Promise.all(opened.map((connection) => sockets.close(connection)));
};
