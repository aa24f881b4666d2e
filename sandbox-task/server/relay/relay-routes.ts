/**
 * The routes by which the platform holds the relay: a claim, an answer that carries bytes out, and requests that carry bytes in.
 *
 * An offset names the first byte of a request or an answer, counted from the claim. Bytes that came before are skipped, bytes
 * that would leave a gap are a `conflict`.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { onFirstUse } from '#shared/contracts/on-first-use.ts';
import { relayBatchBytesMax, relaySliceMs } from '#shared/domain/relay/limits.ts';
import type { Exchange } from '../exchange.ts';
import { readBody, sendJson, writePaced } from '../http-messages.ts';
import { Refusal } from '../refusal.ts';
import type { Holding, SandboxRelay } from './relay.ts';

type RelayRouteParts = { readonly relay: SandboxRelay };

type Serve = (parts: RelayRouteParts, exchange: Exchange) => Promise<void> | void;

const claimBytesMax = 4096;
const holdBody = onFirstUse(() =>
  z.strictObject({
    holder: z.uuid(),
    replaces: z.uuid().optional(),
    idleSeconds: z.number().int().min(1).max(3600),
  }),
);
/** An answer is looked at so often whether its holder is idle. */
const idleCheckMs = 500;
const broken = { status: 502, message: 'the relay broke: the two ends no longer agreed' };

export const relayRoutes: readonly { readonly pattern: RegExp; readonly serve: Serve }[] = [
  {
    pattern: /^POST \/relay\/hold$/,
    serve: async ({ relay }, { request, response }) => {
      const { holder: id, replaces, idleSeconds } = parseHold(await readBody(request, claimBytesMax));
      if (!relay.hold({ id, replaces, idleMs: idleSeconds * 1000 }))
        throw new Refusal('conflict', 'another holder has the relay');
      response.writeHead(204).end();
    },
  },
  {
    pattern: /^GET \/relay\/upstream$/,
    serve: async ({ relay }, { query, response }) => {
      const holding = relay.holding(query.get('holder') ?? '');
      const after = offsetIn(query, 'after');
      acknowledge(holding, after);
      if (relay.isIdle(holding)) {
        relay.end(holding, { status: 503, message: 'the relay was idle' });
        response.writeHead(204).end();
        return;
      }
      await sendUpstream({ relay, holding, response }, after);
    },
  },
  {
    pattern: /^GET \/relay\/wanted-hosts$/,
    serve: ({ relay }, { response }) => sendJson(response, { hosts: relay.wantedHosts() }),
  },
  {
    pattern: /^POST \/relay\/release$/,
    serve: ({ relay }, { query, response }) => {
      relay.release(relay.holding(query.get('holder') ?? ''));
      response.writeHead(204).end();
    },
  },
  {
    pattern: /^POST \/relay\/dismiss$/,
    serve: ({ relay }, { response }) => {
      relay.dismiss();
      response.writeHead(204).end();
    },
  },
  {
    pattern: /^POST \/relay\/downstream$/,
    serve: async ({ relay }, { request, query, response }) => {
      const offset = offsetIn(query, 'offset');
      const bytes = await readBody(request, relayBatchBytesMax);
      const holding = relay.holding(query.get('holder') ?? '');
      acknowledge(holding, offsetIn(query, 'ack'));
      receive(relay, holding, { offset, bytes });
      sendJson(response, { received: holding.received });
    },
  },
];

const parseHold = (body: Buffer): z.output<ReturnType<typeof holdBody>> => {
  try {
    return holdBody().parse(JSON.parse(body.toString()));
  } catch (cause) {
    throw new Refusal('invalid_request', 'the body must be {"holder", "replaces"?, "idleSeconds"}', {
      cause,
    });
  }
};

const offsetIn = (query: URLSearchParams, name: string): number => {
  const text = query.get(name) ?? '';
  if (!/^\d{1,15}$/.test(text)) throw new Refusal('invalid_request', `${name} is a number of bytes`);
  return Number(text);
};

const acknowledge = ({ outbox }: Holding, offset: number): void => {
  // An answer that overtook a later one says less than is known.
  outbox.acknowledge(offset);
};

const receive = (
  relay: SandboxRelay,
  holding: Holding,
  { offset, bytes }: { readonly offset: number; readonly bytes: Buffer },
): void => {
  if (offset > holding.received) throw new Refusal('conflict', 'bytes before these are missing');
  const fresh = bytes.subarray(holding.received - offset);
  if (fresh.length === 0) return;
  holding.received += fresh.length;
  relay.noteBytes();
  try {
    holding.peer.receive(fresh);
  } catch (cause) {
    relay.end(holding, broken);
    throw new Refusal('invalid_request', 'the frames break the rules of the relay', { cause });
  }
};

type Upstream = {
  readonly relay: SandboxRelay;
  readonly holding: Holding;
  readonly response: ServerResponse;
};

/** Ends with its slice, with its connection, when a later answer takes its place, or when the relay is idle. */
const sendUpstream = async ({ relay, holding, response }: Upstream, after: number): Promise<void> => {
  const own = {};
  holding.upstream = own;
  const until = performance.now() + relaySliceMs;
  let offset = after;
  response.writeHead(200, { 'content-type': 'application/octet-stream' });
  response.flushHeaders();
  try {
    while (holding.upstream === own && !response.destroyed && performance.now() < until) {
      const piece = holding.outbox.from(offset);
      if (piece !== undefined) {
        await writePaced(response, piece);
        offset += piece.length;
        relay.noteBytes();
        continue;
      }
      if (relay.isIdle(holding)) break;
      await Promise.race([holding.outbox.pushed(offset), delay(idleCheckMs)]);
    }
  } finally {
    if (holding.upstream === own) {
      holding.upstream = undefined;
      relay.noteHolder(holding);
    }
    response.end();
  }
};
