/**
 * Prepares the calls of a model's answer for the turn: ids of their own, routes, the digest of everything that a person
 * approves, and which of them no tool can take.
 *
 * Arguments with half a surrogate pair have no digest. They are replaced by their text, like arguments that are not JSON. No
 * tool receives that text, and the model reads the reason.
 */

import type { HistoryMessage } from '../../../domain/history.ts';
import type { TurnId } from '../../../domain/ids.ts';
import { isWellFormed, type JsonObject } from '../../../domain/json.ts';
import { argsNotWellFormed, type RequestedCall, type ToolRoute } from '../../../domain/requested-call.ts';
import { distinctCalls } from '../../../domain/turn/call-queue.ts';
import type { AskedCall } from '../../../domain/turn/tool-call.ts';
import { digestText } from '../../../domain/turn/waiting-call.ts';
import type { World } from '../../../ports/world.ts';

export type Preparation = {
  readonly turnId: TurnId;
  readonly history: readonly HistoryMessage[];
  readonly routeOf: (name: string) => ToolRoute | undefined;
  readonly isOffered: (name: string) => boolean;
  /** Epoch milliseconds. */
  readonly at: number;
};

export const identifyCalls = (
  { sha256 }: World,
  asked: readonly RequestedCall[],
  { turnId, history, routeOf, isOffered, at }: Preparation,
): readonly AskedCall[] => {
  const askedAt = new Date(at).toISOString();
  const taken = history.flatMap((message) =>
    message.role === 'assistant' ? message.calls.map(({ callId }) => callId) : [],
  );
  return distinctCalls(asked, taken).map(({ callId, name, args }) => {
    const call = { callId, name, args: wellFormed(args) };
    const route = routeOf(name);
    const digest = sha256(digestText({ turnId, ...call }));
    return {
      ...call,
      ...(route === undefined ? {} : { route }),
      ...(isOffered(name) ? {} : { isUnknown: true as const }),
      ...{ digest, askedAt },
    };
  });
};

const wellFormed = (args: JsonObject): JsonObject =>
  isWellFormed(args) ? args : argsNotWellFormed(JSON.stringify(args));
