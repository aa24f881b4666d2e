/** The endpoint of turns that programs of this sandbox carry. Its code is loaded by its first request: most sandboxes get none. */
import type { Exchange } from '../exchange.ts';
import type { SandboxRelay } from '../relay/relay.ts';
import type { AgentParts } from './agent-program.ts';

type Opened = ReturnType<typeof import('./agents.ts')['openAgents']>;

export type AgentEndpoint = {
  readonly serve: (exchange: Exchange) => Promise<void>;
  /** True while a program works. */
  readonly isBusy: () => boolean;
};

type EndpointParts = AgentParts & {
  /** The relay asks whether a program is busy, and so comes later. */
  readonly relay: () => Pick<SandboxRelay, 'onWanted'>;
};

export const createAgentEndpoint = ({ relay, ...parts }: EndpointParts): AgentEndpoint => {
  let loading: Promise<void> | undefined;
  let opened: Opened | undefined;
  const load = async (): Promise<void> => {
    const { openAgents } = await import('./agents.ts');
    opened = openAgents({ ...parts, relay: relay() });
  };
  return {
    serve: async (exchange) => {
      loading ??= load();
      await loading;
      await opened?.serve(exchange);
    },
    isBusy: () => opened?.isBusy() ?? false,
  };
};
