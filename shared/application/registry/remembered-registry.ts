/**
 * The registry as one holder of a turn reads it. The list of servers, which is offered before every answer of the model, is
 * remembered for a while. A call to one of its servers reads that server again and forgets the list, so that the next offer has
 * what the call found.
 */

import type { ProjectId } from '../../domain/ids.ts';
import type { McpServer } from '../../domain/mcp/server.ts';
import type { McpServerStore } from '../../ports/mcp-servers.ts';
import type { World } from '../../ports/world.ts';

/** A server that is registered, disabled or healthy again is offered so much later at most, in milliseconds. */
export const registryAgeMsMax = 10_000;

type Reading = {
  readonly project: ProjectId;
  readonly at: number;
  readonly servers: Promise<readonly McpServer[]>;
};

export const rememberedRegistry = (store: McpServerStore, world: Pick<World, 'now'>): McpServerStore => {
  let last: Reading | undefined;
  return {
    ...store,
    get: (project, name) => {
      last = undefined;
      return store.get(project, name);
    },
    list: (project) => {
      const at = world.now();
      if (last?.project === project && at - last.at < registryAgeMsMax) return last.servers;
      const reading = { project, at, servers: store.list(project) };
      last = reading;
      reading.servers.catch(() => {
        if (last === reading) last = undefined;
      });
      return reading.servers;
    },
  };
};
