/**
 * What keeps an event loop going, counted by kind: timers, sockets, child processes, requests to the disk.
 *
 * A server that listens is not waited for: it is what somebody wanted to leave running.
 */
export type Pending = ReadonlyMap<string, number>;

const servers: ReadonlySet<string> = new Set(['TCPServerWrap', 'PipeServerWrap']);

export const countPending = (): Pending => {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (!servers.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
};

export const isMorePending = (before: Pending): boolean =>
  [...countPending()].some(([kind, count]) => count > (before.get(kind) ?? 0));
