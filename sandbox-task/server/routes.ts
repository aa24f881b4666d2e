/** The routes of the sandbox but `/health`, which the server answers itself: the endpoint of each method and path. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { onFirstUse } from '#shared/contracts/on-first-use.ts';
import { codeContextName, codeContextRule } from '#shared/contracts/tools/sandbox-tools.ts';
import { isLanguage, type Language } from '../wire/program-messages.ts';
import type { VolumeName } from '../wire/transfer-messages.ts';
import type { AgentEndpoint } from './agent/agent-endpoint.ts';
import type { Bearer } from './bearer.ts';
import type { CallRegistry } from './call-registry.ts';
import { serveCall } from './call-route.ts';
import { decode, type Exchange } from './exchange.ts';
import { fileRoutes } from './file-routes.ts';
import { readBody, sendJson } from './http-messages.ts';
import type { LogRing } from './logs.ts';
import { type McpEndpoint, serveMcp } from './mcp-endpoint.ts';
import { proxyPort } from './ports-endpoint.ts';
import type { ArrivalOrder } from './process/arrival-order.ts';
import type { FrameOrder } from './process/frame-order.ts';
import type { InputMeter } from './process/input-meter.ts';
import type { ProcessRegistry } from './process/process-registry.ts';
import { processRoutes } from './process/process-routes.ts';
import { Refusal } from './refusal.ts';
import { writeAuthorities } from './relay/authorities.ts';
import type { SandboxRelay } from './relay/relay.ts';
import { relayRoutes } from './relay/relay-routes.ts';
import { type RestoreFence, readRestoreClaim } from './restore-fence.ts';
import type { SavedState } from './saved-state.ts';
import type { ToolCalls } from './tool-calls.ts';
import {
  readCheckpointRequest,
  readTransferId,
  receiveRestore,
  sendCheckpoint,
  settleCheckpoint,
  type WorkQueue,
} from './transfers.ts';
import type { UploadMemory } from './upload-memory.ts';
import type { UserSide } from './user-side.ts';
import type { WorkCount } from './work-count.ts';

export type RouteParts = {
  readonly bearer: Bearer;
  readonly mcp: McpEndpoint;
  readonly calls: ToolCalls;
  readonly userSide: UserSide;
  readonly registry: CallRegistry;
  readonly logRing: LogRing;
  readonly processes: ProcessRegistry;
  readonly inputMeter: InputMeter;
  readonly frameOrder: FrameOrder;
  readonly arrivalOrder: ArrivalOrder;
  readonly transfers: WorkQueue;
  readonly uploads: UploadMemory;
  readonly restores: RestoreFence;
  readonly savedState: SavedState;
  readonly hasSharedVolume: boolean;
  readonly relay: SandboxRelay;
  /** The path of the relay's socket; absent: there is none. */
  readonly relaySocket?: string | undefined;
  readonly work: WorkCount;
  readonly agents: AgentEndpoint;
};

type Serve = (parts: RouteParts, exchange: Exchange) => Promise<void> | void;
const routes: readonly { readonly pattern: RegExp; readonly serve: Serve }[] = [
  {
    pattern: /^\S+ \/mcp$/,
    serve: ({ mcp }, { request, response }) => serveMcp(mcp, request, response),
  },
  { pattern: /^POST \/calls\/([^/]+)$/, serve: serveCall },
  ...fileRoutes,
  {
    pattern: /^POST \/calls\/([^/]+)\/cancel$/,
    serve: ({ registry }, { response, name }) => sendJson(response, { call: registry.cancel(name) }),
  },
  {
    pattern: /^DELETE \/contexts\/([^/]+)$/,
    serve: async ({ userSide }, { response, query, name }) => {
      if (!(await userSide.endContext(parseContext(name), readLanguage(query))))
        throw new Refusal('not_found', `there is no context ${name}`);
      response.writeHead(204).end();
    },
  },
  ...processRoutes,
  {
    pattern: /^\S+ \/agent\/turns\/([^/]+)(?:\/.*)?$/,
    serve: ({ agents }, exchange) => agents.serve(exchange),
  },
  ...relayRoutes,
  { pattern: /^GET \/checkpoint$/, serve: (parts, exchange) => save(parts, exchange, 'workspace') },
  { pattern: /^POST \/restore$/, serve: (parts, exchange) => restore(parts, exchange, 'workspace') },
  {
    pattern: /^POST \/apply$/,
    serve: async ({ transfers, userSide }, { query, request, response }) => {
      const id = readTransferId(query);
      await transfers.run(async () => {
        sendJson(
          response,
          await receiveRestore(userSide, { volume: 'workspace', id, applies: true }, request),
        );
      });
    },
  },
  {
    pattern: /^POST \/settle$/,
    serve: (parts, { query, response }) => {
      const [checkpoint, as] = [readTransferId(query), readTransferId(query, 'as')];
      return settle(parts, { volume: 'workspace', checkpoint, as }, response);
    },
  },
  { pattern: /^GET \/shared\/checkpoint$/, serve: (parts, exchange) => save(parts, exchange, 'shared') },
  { pattern: /^POST \/shared\/restore$/, serve: (parts, exchange) => restore(parts, exchange, 'shared') },
  {
    pattern: /^POST \/shared\/settle$/,
    serve: (parts, { query, response }) =>
      settle(parts, { volume: 'shared', checkpoint: readTransferId(query), as: '' }, response),
  },
  {
    pattern: /^POST \/claim$/,
    serve: async ({ bearer }, { request, response }) => {
      await receiveClaim(bearer, request);
      response.writeHead(204).end();
    },
  },
  {
    pattern: /^PUT \/environment$/,
    serve: async ({ userSide, relay, relaySocket }, { request, response }) => {
      const { authority, isTrial, ...asked } = parseDefaults(await readBody(request, defaultsBytesMax));
      const hasAuthority = authority !== undefined && writeAuthorities(relaySocket, authority);
      relay.setNetwork(asked.hasNetwork ?? false);
      if (isTrial) relay.setTrial();
      // Programs of a trial find the proxy, which notes the hosts that they want.
      const given = isTrial ? { ...asked, hasNetwork: true as const } : asked;
      await userSide.configure({ ...given, ...(hasAuthority ? { hasAuthority } : {}) });
      response.writeHead(204).end();
    },
  },
  {
    pattern: /^GET \/logs$/,
    serve: ({ logRing }, { query, response }) =>
      sendJson(response, { lines: logRing.after(readLogNumber(query)) }),
  },
  { pattern: /^\S+ \/ports\//, serve: (_, { request, response }) => proxyPort(request, response) },
];

export const serveRoute = async (
  parts: RouteParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  // From the text as it came: a URL parser would take `..` out of the path of a file, and lead to another route.
  const [path = '', search = ''] = (request.url ?? '').split(/\?(.*)/s);
  const requested = `${request.method} ${path}`;
  for (const { pattern, serve } of routes) {
    const match = pattern.exec(requested);
    if (match === null) continue;
    const name = decode(match[1] ?? '');
    return serve(parts, { request, response, query: new URLSearchParams(search), name });
  }
  throw new Refusal('not_found', 'no such route');
};

const save = async (parts: RouteParts, { query, response }: Exchange, volume: VolumeName): Promise<void> => {
  const request = readCheckpointRequest(volume, query);
  refuseWithout(parts, volume);
  await parts.transfers.run(() => sendCheckpoint(parts, request, response));
};

const restore = async (
  parts: RouteParts,
  { query, request, response }: Exchange,
  volume: VolumeName,
): Promise<void> => {
  const [id, claim] = [readTransferId(query), readRestoreClaim(query)];
  refuseWithout(parts, volume);
  const superseded = parts.restores.begin(volume, claim);
  superseded.addEventListener('abort', () => request.socket.destroy(), { once: true });
  await parts.transfers.run(async () => {
    superseded.throwIfAborted();
    sendJson(response, await receiveRestore(parts.userSide, { volume, id }, request));
  });
};

/** Never between the pieces of another transfer. */
const settle = async (
  parts: RouteParts,
  settled: Parameters<typeof settleCheckpoint>[1],
  response: ServerResponse,
): Promise<void> => {
  refuseWithout(parts, settled.volume);
  await parts.transfers.run(() => settleCheckpoint(parts.userSide, settled));
  response.writeHead(204).end();
};

const refuseWithout = ({ hasSharedVolume }: RouteParts, volume: VolumeName): void => {
  if (volume === 'shared' && !hasSharedVolume) throw new Refusal('not_found', 'there is no shared volume');
};

const parseContext = (name: string): string => {
  if (!codeContextName.test(name)) throw new Refusal('invalid_request', codeContextRule);
  return name;
};

/** Null: of all languages. */
const readLanguage = (query: URLSearchParams): Language | null => {
  const language = query.get('language');
  if (language !== null && !isLanguage(language))
    throw new Refusal('invalid_request', 'language is python or node');
  return language;
};

const readLogNumber = (query: URLSearchParams): number => {
  const text = query.get('after') ?? '0';
  if (!/^\d{1,15}$/.test(text)) throw new Refusal('invalid_request', 'after is the number of a line');
  return Number(text);
};

const claimBytesMax = 4096;
const claimBody = onFirstUse(() => z.strictObject({ bearerSha256: z.string().regex(/^[0-9a-f]{64}$/) }));

const receiveClaim = async (bearer: Bearer, request: IncomingMessage): Promise<void> => {
  const { bearerSha256 } = parseClaim(await readBody(request, claimBytesMax));
  if (!bearer.claim(request.headers.authorization, bearerSha256)) {
    throw new Refusal('unauthenticated', 'the sandbox was claimed by another caller');
  }
};

const parseClaim = (body: Buffer): z.output<ReturnType<typeof claimBody>> => {
  try {
    return claimBody().parse(JSON.parse(body.toString()));
  } catch (cause) {
    throw new Refusal('invalid_request', 'the body must be {"bearerSha256": "<64 hex>"}', { cause });
  }
};

const defaultsBytesMax = 256 * 1024;
const defaultsBody = onFirstUse(() =>
  z.strictObject({
    variables: z.record(z.string().min(1), z.string()),
    cwd: z.string().min(1).optional(),
    hasNetwork: z.literal(true).optional(),
    isTrial: z.literal(true).optional(),
    /** The certificate of an authority that programs are to trust, as PEM. */
    authority: z.string().min(1).optional(),
  }),
);

const parseDefaults = (body: Buffer): z.output<ReturnType<typeof defaultsBody>> => {
  try {
    return defaultsBody().parse(JSON.parse(body.toString()));
  } catch {
    // Without the cause: it may repeat a value.
    throw new Refusal(
      'invalid_request',
      'the body must be {"variables": {…}, "cwd"?: "…", "hasNetwork"?: true, "isTrial"?: true, "authority"?: "…"}',
    );
  }
};
