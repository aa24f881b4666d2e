/** Everything that carries turns by programs of this sandbox. It is loaded with the first such turn. */
import type { Exchange } from '../exchange.ts';
import type { SandboxRelay } from '../relay/relay.ts';
import { createAcp } from './acp/acp-program.ts';
import type { AgentParts } from './agent-program.ts';
import { serveAgent } from './agent-routes.ts';
import { createAgentTurns } from './agent-turns.ts';
import { createOpencode } from './opencode/opencode-program.ts';

/** Of OpenCode's server, on the sandbox's loopback; no preview port. */
const opencodePort = 4096;

export const openAgents = (
  parts: AgentParts & { readonly relay: Pick<SandboxRelay, 'onWanted'> },
): { readonly serve: (exchange: Exchange) => Promise<void>; readonly isBusy: () => boolean } => {
  const turns = createAgentTurns({ opencode: createOpencode(parts, opencodePort), acp: createAcp(parts) });
  const { relay } = parts;
  return { serve: (exchange) => serveAgent({ turns, relay }, exchange), isBusy: turns.isBusy };
};
