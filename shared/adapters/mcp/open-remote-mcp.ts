/** `RemoteMcp` whose client, a quarter of a turn's code, is loaded by the first call of a registered server. */
import type { RemoteMcp } from '#shared/ports/mcp-servers.ts';
import { loadOnce } from '../load-once.ts';
import type { EgressSettings } from '../outbound/checked-address.ts';

export const openRemoteMcp = (settings: EgressSettings): RemoteMcp => {
  const load = loadOnce(async () => (await import('./remote-mcp.ts')).makeRemoteMcp(settings));
  return {
    ready: async () => void (await load()),
    listTools: async (target, signal) => (await load()).listTools(target, signal),
    call: async (call) => (await load()).call(call),
  };
};
