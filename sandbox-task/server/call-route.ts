/**
 * The route of the platform's calls of tools: `POST /calls/{id}`, answered by a stream of events.
 *
 * It costs a fraction of the same call over MCP, whose library a sandbox then need not load. The events are
 * in shared/contracts/sandbox-call.ts. The call goes on without its connection: its id leads to its result.
 */
import type { ServerResponse } from 'node:http';
import * as z from 'zod';
import type { CallEvent } from '#shared/contracts/sandbox-call.ts';
import type { Exchange } from './exchange.ts';
import { correlationOf, readBody } from './http-messages.ts';
import { Refusal } from './refusal.ts';
import type { SandboxRelay } from './relay/relay.ts';
import type { SavedState } from './saved-state.ts';
import type { ToolCalls } from './tool-calls.ts';

/** Four megabytes of content, each character escaped as `\u0000` at worst, must still arrive at `write_file`. */
export const callBytesMax = 26 * 1_048_576;

const callBody = z.strictObject({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).optional(),
  waitMs: z.unknown().optional(),
});

type CallRouteParts = {
  readonly calls: ToolCalls;
  readonly relay: Pick<SandboxRelay, 'onWanted'>;
  readonly savedState: SavedState;
};

/** So often a call that says nothing shows that it goes on: who stands between may close a silent connection. */
const aliveMs = 15_000;

export const serveCall = async (
  { calls, relay, savedState }: CallRouteParts,
  { request, response, name: callId }: Exchange,
): Promise<void> => {
  const { name, arguments: input, waitMs } = parseCall(await readBody(request, callBytesMax));
  const send = eventsTo(response);
  const say = (event: CallEvent): void => send(`data: ${JSON.stringify(event)}`);
  const alive = setInterval(() => send(': alive'), aliveMs);
  const unsubscribe = relay.onWanted(() => say({ isRelayWanted: true }));
  const stopTelling = (): void => {
    clearInterval(alive);
    unsubscribe();
  };
  response.once('close', stopTelling);
  const result = await calls({
    ...{ name, input, callId, waitMs },
    correlationId: correlationOf(request),
    onOutput: (output) => say({ output }),
    // Not that of the connection: a call with an id ends by itself, or is cancelled.
    signal: new AbortController().signal,
  }).finally(stopTelling);
  if (result === 'running') say({ isRunning: true });
  else {
    const asSaved = await savedState(request);
    say({ result, ...(asSaved === undefined ? {} : { asSaved }) });
  }
  response.end();
};

const parseCall = (body: Buffer): z.output<typeof callBody> => {
  try {
    return callBody.parse(JSON.parse(body.toString()));
  } catch (cause) {
    throw new Refusal('invalid_request', 'the body must be {"name": "…", "arguments"?: {…}, "waitMs"?: n}', {
      cause,
    });
  }
};

/** The head of the answer goes with its first event. A client that has disconnected is told nothing. */
const eventsTo =
  (response: ServerResponse) =>
  (event: string): void => {
    if (response.destroyed) return;
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`${event}\n\n`);
  };
