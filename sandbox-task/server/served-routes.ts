/**
 * All that the server does beside saying that it is up: what is behind its routes, and the endpoints that programs of the sandbox
 * reach.
 *
 * Its code is loaded behind the first answer, or by the first request that needs it: a sandbox that starts is asked for its health
 * first, and no code of a user runs before a request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createAgentEndpoint } from './agent/agent-endpoint.ts';
import type { Bearer } from './bearer.ts';
import { createCallRegistry } from './call-registry.ts';
import { createExecutor, type Limits } from './executor.ts';
import { routeOf } from './http-messages.ts';
import type { Log, LogRing } from './logs.ts';
import { createMcpEndpoint } from './mcp-endpoint.ts';
import type { MemoryCounters } from './memory-counters.ts';
import { createMemoryWatch } from './memory-watch.ts';
import { type Upgrade, upgradePort } from './ports-endpoint.ts';
import { createArrivalOrder } from './process/arrival-order.ts';
import { createFrameOrder } from './process/frame-order.ts';
import { createInputMeter } from './process/input-meter.ts';
import { createProcessRegistry } from './process/process-registry.ts';
import { createModelEndpoint } from './relay/model-endpoint.ts';
import { createPlatformSocket, listenOn } from './relay/platform-socket.ts';
import { createProxy } from './relay/proxy.ts';
import { createRelay, type SandboxRelay } from './relay/relay.ts';
import { createRestoreFence } from './restore-fence.ts';
import { serveRoute } from './routes.ts';
import { createSavedState } from './saved-state.ts';
import { createStdioCaller } from './stdio-caller.ts';
import { createToolCalls, prepareCalls } from './tool-calls.ts';
import { createWorkQueue } from './transfers.ts';
import { createUploadMemory } from './upload-memory.ts';
import type { UserSide } from './user-side.ts';
import { createWorkCount } from './work-count.ts';

export { parseRunnerMessage } from './runner-message.ts';

type Inside = {
  /** Of the proxy, the model broker and the relay; absent: there is none. */
  readonly proxyPort: number | undefined;
  readonly modelsPort: number | undefined;
  readonly relaySocket: string | undefined;
};

export type ServedParts = Inside & {
  readonly bearer: Bearer;
  readonly userSide: UserSide;
  readonly limits: Limits;
  readonly counters: MemoryCounters | undefined;
  readonly logRing: LogRing;
  readonly log: Log;
  readonly workspace: string;
  readonly hasSharedVolume: boolean;
};

export type ServedRoutes = {
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly upgrade: (upgrade: Upgrade) => Promise<void>;
  /** Has the first command find all that it needs. */
  readonly prepare: () => Promise<void>;
  /** Resolves when no transfer runs. */
  readonly idle: () => Promise<void>;
};

/** The bounds of the call registry: the control plane repeats a call within minutes, not days. */
const rememberedCallsMax = 1000;
const rememberedBytesMax = 16 * 1_048_576;
const waitingTransfersMax = 16;
export const openRoutes = (given: ServedParts): ServedRoutes => {
  const { userSide, limits, counters, logRing, log, workspace } = given;
  const registry = createCallRegistry({ callsMax: rememberedCallsMax, bytesMax: rememberedBytesMax });
  const transfers = createWorkQueue(waitingTransfersMax);
  const memory = createMemoryWatch(counters);
  const callParts = { userSide, limits, counters, memory, logRing, running: new Set<object>() };
  const work = createWorkCount();
  const agents = createAgentEndpoint({ userSide, workspace, relay: () => relay });
  const processes = createProcessRegistry(callParts);
  const relay = createRelay({
    isBusy: () => work.isBusy() || registry.isBusy() || agents.isBusy() || processes.isServed(),
    usedAt: work.begunAt,
  });
  const calls = createToolCalls({
    userSide,
    execute: createExecutor(callParts),
    askStdio: createStdioCaller(callParts),
    registry,
    log,
  });
  const mcp = createMcpEndpoint({ calls, relay });
  const parts = {
    ...given,
    ...{ mcp, calls, registry, transfers, relay, work, agents },
    ...{ restores: createRestoreFence(), uploads: createUploadMemory(), savedState: createSavedState(given) },
    ...processPartsOf(processes),
  };
  listenInside(given, { relay, log });
  return {
    serve: (request, response) => {
      const done = isWork(request) ? work.begin() : undefined;
      return serveRoute(parts, request, response).finally(done);
    },
    upgrade: upgradePort,
    prepare: () => prepareCalls(calls),
    idle: transfers.idle,
  };
};

/** Calls, and what attached clients follow: while one is served, programs may expect a holder of the relay. */
const workRoutes = ['calls', 'mcp', 'processes', 'ports', 'agent'];
const isWork = (request: IncomingMessage): boolean => workRoutes.includes(routeOf(request));

const processPartsOf = (processes: ReturnType<typeof createProcessRegistry>) => ({
  processes,
  inputMeter: createInputMeter(),
  frameOrder: createFrameOrder(),
  arrivalOrder: createArrivalOrder(),
});

/** The endpoints of the server that programs of the sandbox reach. */
const listenInside = (
  { proxyPort, modelsPort, relaySocket }: Inside,
  parts: { readonly relay: SandboxRelay; readonly log: Log },
): void => {
  if (proxyPort !== undefined) createProxy(parts).listen(proxyPort, '127.0.0.1');
  if (modelsPort !== undefined) createModelEndpoint(parts).listen(modelsPort, '127.0.0.1');
  if (relaySocket !== undefined) listenOn(createPlatformSocket(parts), relaySocket);
};
