/**
 * `SandboxTools` over MCP: the official client, with the sandbox link as its `fetch`.
 *
 * A call is one request: the answers of a handshake are known beforehand, and requested only from a sandbox that
 * refuses it (another release, during an update). The client does not notice a stream that ends without a result
 * and would wait for its timeout; the transport does, and the call is `lost` at once.
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
import { callIdMeta, waitMeta } from '#shared/contracts/sandbox-call.ts';
import { executionSecondsMax, toolTimeoutSeconds } from '#shared/domain/limits.ts';
import type { LiveSandbox } from '#shared/domain/sandbox.ts';
import { cutMiddle } from '#shared/domain/text.ts';
import { isAppError, UnsentError } from '#shared/errors.ts';
import type {
  AskedOutcome,
  LinkRequest,
  SandboxCall,
  SandboxLink,
  SandboxTools,
  ToolOutcome,
} from '#shared/ports/sandbox.ts';
import { decodeProgress, type ToolResult, toOutcome } from './tool-result.ts';

const clientInfo = { name: 'sallyport', version: '0.1.0' };
/** Time of a call beyond the tool's own timeout: the way there and back, and the kill. */
const marginMs = 30_000;
/**
 * The time for which a stream may go on after its result before it is broken off; one that ends by itself leaves
 * its connection reusable.
 */
const lingerMs = 1000;
/** A failure may repeat a sandbox's text, of any length. */
const messageCharactersMax = 500;

/** The handshake of every sandbox of this release. */
const ownRelease: PriorDiscovery = {
  kind: 'modern',
  discover: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
};

export const makeSandboxTools = (link: SandboxLink): SandboxTools => {
  const ask = async (call: Asked): Promise<AskedOutcome> => {
    if (call.signal?.aborted) {
      // An earlier request may have begun it.
      await cancel(link, call.sandbox, call.callKey);
      return cancelledEarly;
    }
    const onAbort = (): void => void cancel(link, call.sandbox, call.callKey);
    call.signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await callOnce(link, call, { prior: ownRelease }).catch((error: unknown) => {
        if (isVersionRefusal(error)) return callOnce(link, call, {});
        throw error;
      });
    } catch (error) {
      return failureOf(error);
    } finally {
      call.signal?.removeEventListener('abort', onAbort);
    }
  };
  return {
    call: async (call) => {
      const outcome = await ask({ ...call, waitMs: undefined });
      return outcome.status === 'running' ? answeredEarly : outcome;
    },
    callFor: ask,
    cancel: (sandbox, callKey) => cancel(link, sandbox, callKey),
  };
};

type Asked = SandboxCall & { readonly waitMs?: number | undefined };

/** To a request without a bound: it is asked again. */
const answeredEarly = { status: 'lost', message: 'the sandbox answered before the end of the call' } as const;

const cancelledEarly = { status: 'lost', message: 'the call was cancelled before it was sent' } as const;

/** The sandbox kills the call, and the call's own answer reports it. An unreachable sandbox has nothing to kill. */
const cancel = async (link: SandboxLink, sandbox: LiveSandbox, callKey: string): Promise<void> => {
  const path = `/calls/${encodeURIComponent(callKey)}/cancel`;
  await link.fetch(sandbox, { method: 'POST', path }).then(
    (response) => response.body?.cancel(),
    () => undefined,
  );
};

const callOnce = async (
  link: SandboxLink,
  call: Asked,
  connecting: { readonly prior?: PriorDiscovery },
): Promise<AskedOutcome> => {
  const stream = new AbortController();
  const client = new Client(clientInfo, { versionNegotiation: { mode: 'auto' } });
  const transport = new LinkTransport(link, call, () => stream.abort('the sandbox closed the connection'));
  try {
    await client.connect(transport, connecting);
    const timeout = timeoutMs(call);
    const result = await client.callTool(
      { name: call.name, arguments: { ...call.args }, _meta: metaOf(call) },
      {
        signal: stream.signal,
        timeout,
        maxTotalTimeout: timeout + marginMs,
        resetTimeoutOnProgress: true,
        onprogress: ({ message }) => {
          if (message === relayWantedMessage) return call.onRelayWanted?.();
          const progress = decodeProgress(message);
          if (progress !== undefined) call.onProgress(progress);
        },
      },
    );
    return toOutcome(result as ToolResult);
  } finally {
    closeWhenEnded(client, stream.signal);
  }
};

const metaOf = ({ callKey, waitMs }: Asked) => ({
  [callIdMeta]: callKey,
  ...(waitMs === undefined ? {} : { [waitMeta]: waitMs }),
});

const timeoutMs = ({ args }: SandboxCall): number => {
  const asked = typeof args['timeout'] === 'number' ? args['timeout'] : toolTimeoutSeconds;
  // The sandbox refuses a longer one; a timer over 24 days would fire at once.
  return Math.min(Math.max(asked, 0), executionSecondsMax) * 1000 + marginMs;
};

const closeWhenEnded = (client: Client, ended: AbortSignal): void => {
  const linger = setTimeout(() => close(), lingerMs).unref();
  const close = (): void => {
    clearTimeout(linger);
    client.close().catch(() => undefined);
  };
  if (ended.aborted) close();
  else ended.addEventListener('abort', close, { once: true });
};

/** A server that does not know our version answers 400, in JSON-RPC or in its own form. */
const isVersionRefusal = (error: unknown): boolean =>
  (ProtocolError.isInstance(error) && error.code === unsupportedVersion) ||
  (SdkHttpError.isInstance(error) && error.status === 400);

const unsupportedVersion = -32022;

/** An answer in JSON-RPC or a refusal of ours is final; anything else says nothing about the call. */
const failureOf = (error: unknown): ToolOutcome => {
  if (SdkHttpError.isInstance(error))
    return { status: 'lost', message: `the sandbox answered with HTTP ${error.status}` };
  const message = cutMiddle(error instanceof Error ? error.message : String(error), messageCharactersMax);
  if (ProtocolError.isInstance(error)) return { status: 'failed', code: 'internal_error', message };
  if (isAppError(error) && error.code !== 'sandbox_unavailable')
    return { status: 'failed', code: error.code, message };
  return { status: 'lost', message, ...(error instanceof UnsentError ? { isUnsent: true } : {}) };
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
