/**
 * The model broker of the sandbox: HTTP/1.1 on its loopback, under one path for each provider, in the provider's own wire.
 *
 * It has no key and decides nothing: each request goes to the platform as it came, without its headers, and the answer passes as it
 * comes. A request that the relay cannot carry is refused in the form of the provider's own errors; a stream that is cut ends with one.
 * Invariants BR1 and BR3: docs/spec/relay.md.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { encodeHead, modelAnswerHead, splitHead } from '#shared/contracts/relay/model-call.ts';
import { brokerBodyBytesMax, brokerCallsMax, tooManyBrokerCalls } from '#shared/domain/broker/limits.ts';
import { type BrokerProvider, brokerProviders } from '#shared/domain/broker/provider.ts';
import { refusalBody, refusalEvent } from '#shared/domain/broker/refusal.ts';
import type { BrokerRefusal } from '#shared/domain/broker/request.ts';
import { endPaced, readBody, refuseUnreadable, sendJson, writePaced } from '../http-messages.ts';
import type { Log } from '../logs.ts';
import { Refusal } from '../refusal.ts';
import { RelayRefusal, type SandboxRelay } from './relay.ts';
import { leftBy, openRelaySocket } from './relay-socket.ts';

type EndpointParts = { readonly relay: SandboxRelay; readonly log: Log };

const connectionsMax = 64;
const connectionIdleMsMax = 60_000;
const pathCharactersMax = 512;

export const createModelEndpoint = ({ relay, log }: EndpointParts): Server => {
  let open = 0;
  const server = createServer((request, response) => {
    const target = targetOf(request.url ?? '');
    if (target === undefined) {
      const message = `models are under ${brokerProviders.map((name) => `/${name}/`).join(', ')}`;
      sendJson(response, { error: { message } }, 404);
      return;
    }
    const { provider } = target;
    // Before its body is read, which is held whole.
    if (open >= brokerCallsMax) {
      end(response, provider, tooManyBrokerCalls);
      return;
    }
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
    forward(relay, { ...target, request, response }).catch((cause: unknown) =>
      end(response, provider, refusalOf(cause)),
    );
  });
  server.on('clientError', refuseUnreadable);
  server.on('error', (error) => log.warn('the model broker failed', { cause: error.message }));
  server.maxConnections = connectionsMax;
  server.requestTimeout = 0;
  server.keepAliveTimeout = connectionIdleMsMax;
  return server;
};

type Target = { readonly provider: BrokerProvider; readonly path: string };

const targetOf = (url: string): Target | undefined => {
  const [, name, path = ''] = /^\/([a-z]+)(\/.*)$/.exec(url) ?? [];
  const provider = brokerProviders.find((one) => one === name);
  return provider === undefined || path.length > pathCharactersMax ? undefined : { provider, path };
};

type Forwarding = Target & { readonly request: IncomingMessage; readonly response: ServerResponse };

const forward = async (
  relay: SandboxRelay,
  { provider, path, request, response }: Forwarding,
): Promise<void> => {
  const body = await readBody(request, brokerBodyBytesMax);
  const inner = await openRelaySocket(relay, { type: 'model' }, leftBy(response));
  response.once('close', () => inner.destroy());
  inner.write(encodeHead({ provider, method: (request.method ?? '').slice(0, 16), path }));
  inner.end(body);
  let held: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of inner as AsyncIterable<Buffer>) {
    if (held === undefined) {
      await writePaced(response, chunk);
      continue;
    }
    held = Buffer.concat([held, chunk]);
    const split = splitHead(modelAnswerHead(), held);
    if (split === undefined) continue;
    held = undefined;
    response.statusCode = split.head.status;
    response.setHeader('content-type', split.head.contentType);
    response.flushHeaders();
    if (split.rest.length > 0) await writePaced(response, split.rest);
  }
  if (held !== undefined) throw new RelayRefusal(unanswered);
  await endPaced(response);
};

const unanswered = { status: 502, message: 'the platform did not answer' };

const refusalOf = (cause: unknown): BrokerRefusal => {
  if (cause instanceof RelayRefusal) return cause;
  if (cause instanceof Refusal && cause.code === 'payload_too_large')
    return { status: 413, message: cause.message };
  return { status: 502, message: 'the relay was lost before the answer was whole' };
};

const eventStream = 'text/event-stream';

/** An answer that has begun can say so only in a stream of events; another one is broken off. */
const end = (
  response: ServerResponse,
  provider: BrokerProvider,
  { status, message }: BrokerRefusal,
): void => {
  if (response.destroyed) return;
  if (!response.headersSent) {
    sendJson(response, refusalBody(provider, { status, message }), status);
    return;
  }
  if (!String(response.getHeader('content-type')).startsWith(eventStream)) {
    response.destroy();
    return;
  }
  response.end(refusalEvent(provider, { status, message }));
};
