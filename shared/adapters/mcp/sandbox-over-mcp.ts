/**
 * A call of a sandbox's tool over MCP, as sandboxes of the release before take it: the official client, with the sandbox link as its
 * `fetch`. Sandboxes of this release are called by sandbox-calls.ts.
 *
 * A call is one request: the answers of a handshake are known beforehand. The client does not notice a stream that ends without a
 * result and would wait for its timeout; the transport does, and the call is `lost` at once.
 */
import {
  Client,
  type JSONRPCMessage,
  type PriorDiscovery,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { relayWantedMessage } from '#shared/contracts/relay/wanted.ts';
import { callIdMeta, runningMeta, waitMeta } from '#shared/contracts/sandbox-call.ts';
import type {
  AskedOutcome,
  LinkRequest,
  SandboxCall,
  SandboxLink,
  ToolOutcome,
} from '#shared/ports/sandbox.ts';
import { type AskedCall, callMsMax, marginMs } from '../sandbox/call-request.ts';
import {
  cutMessage,
  lostWith,
  parseJson,
  toOutcome,
  toProgress,
  unknownOutcome,
} from '../sandbox/tool-result.ts';

const clientInfo = { name: 'sallyport', version: '0.1.0' };
/**
 * The time for which a stream may go on after its result before it is broken off; one that ends by itself leaves
 * its connection reusable.
 */
const lingerMs = 1000;

/** The handshake of every such sandbox. */
const knownRelease: PriorDiscovery = {
  kind: 'modern',
  discover: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
};

/** One request; `lost` when it says nothing about the call. */
export const askOverMcp = (link: SandboxLink, call: AskedCall): Promise<AskedOutcome> =>
  callOnce(link, call).catch(failureOf);

const callOnce = async (link: SandboxLink, call: AskedCall): Promise<AskedOutcome> => {
  const stream = new AbortController();
  const client = new Client(clientInfo, { versionNegotiation: { mode: 'auto' } });
  const transport = new LinkTransport(link, call, () => stream.abort('the sandbox closed the connection'));
  try {
    await client.connect(transport, { prior: knownRelease });
    const timeout = callMsMax(call);
    const result = await client.callTool(
      { name: call.name, arguments: { ...call.args }, _meta: metaOf(call) },
      {
        signal: stream.signal,
        timeout,
        maxTotalTimeout: timeout + marginMs,
        resetTimeoutOnProgress: true,
        onprogress: ({ message }) => {
          if (message === relayWantedMessage) return call.onRelayWanted?.();
          const progress = toProgress(parseJson(message ?? ''));
          if (progress !== undefined) call.onProgress(progress);
        },
      },
    );
    return result._meta?.[runningMeta] === true ? { status: 'running' } : toOutcome(result);
  } finally {
    closeWhenEnded(client, stream.signal);
  }
};

const metaOf = ({ callKey, waitMs }: AskedCall) => ({
  [callIdMeta]: callKey,
  ...(waitMs === undefined ? {} : { [waitMeta]: waitMs }),
});

const closeWhenEnded = (client: Client, ended: AbortSignal): void => {
  const linger = setTimeout(() => close(), lingerMs).unref();
  const close = (): void => {
    clearTimeout(linger);
    client.close().catch(() => undefined);
  };
  if (ended.aborted) close();
  else ended.addEventListener('abort', close, { once: true });
};

/** An answer in JSON-RPC is final. */
const failureOf = (error: unknown): ToolOutcome => {
  if (SdkHttpError.isInstance(error)) return lostWith(error.status);
  if (!ProtocolError.isInstance(error)) return unknownOutcome(error);
  return { status: 'failed', code: 'internal_error', message: cutMessage(error.message) };
};

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/** Streamable HTTP through the link; reports the end of a call's stream, whatever the reason. */
class LinkTransport extends StreamableHTTPClientTransport {
  readonly #onStreamEnd: () => void;

  constructor(link: SandboxLink, { sandbox }: SandboxCall, onStreamEnd: () => void) {
    super(new URL('http://sandbox/mcp'), {
      fetch: (url, init) => link.fetch(sandbox, toLinkRequest(new URL(url), init)),
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 0,
        maxReconnectionDelay: 0,
        reconnectionDelayGrowFactor: 1,
      },
    });
    this.#onStreamEnd = onStreamEnd;
  }

  override send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    const isCall = 'method' in message && message.method === 'tools/call';
    return super.send(message, isCall ? { ...options, onRequestStreamEnd: this.#onStreamEnd } : options);
  }
}

const toLinkRequest = ({ pathname, search }: URL, init: RequestInit | undefined): LinkRequest => ({
  method: init?.method ?? 'GET',
  path: `${pathname}${search}`,
  headers: Object.fromEntries(new Headers(init?.headers)),
  signal: init?.signal ?? undefined,
  ...(typeof init?.body === 'string' ? { body: init.body } : {}),
});
