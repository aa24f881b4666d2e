/**
 * `notifications/cancelled`, which reaches another function than the call it means: the calls it names are looked
 * up under the client's token before it is answered, since nothing runs after the answer.
 *
 * A client of 2026 closes the stream of its call instead and needs none; one that sends it is served alike.
 */
import * as z from 'zod';
import { cancelRunningCall } from '#shared/application/execution/running-calls.ts';
import type { EndpointContext } from './endpoint-context.ts';

/** A client has few calls; those it names beyond that go on. */
const cancelledPerRequestMax = 10;
const requestIdCharactersMax = 1000;
const bodyCharactersMax = 64 * 1024;

const cancelled = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string().max(requestIdCharactersMax), z.number()]) }),
});

export const cancelNamedCalls = async (
  { ports, principal }: EndpointContext,
  request: Request,
): Promise<void> => {
  if (request.method !== 'POST') return;
  const ids = cancelledIn(await request.clone().text());
  const { tokenHash } = principal;
  await Promise.all(ids.map((requestId) => cancelRunningCall(ports, { tokenHash, requestId })));
};

export const cancelledIn = (body: string): readonly (string | number)[] => {
  if (body.length > bodyCharactersMax || !body.includes('notifications/cancelled')) return [];
  const ids = messagesOf(body).flatMap((message) => {
    const { data } = cancelled.safeParse(message);
    return data === undefined ? [] : [data.params.requestId];
  });
  return [...new Set(ids)].slice(0, cancelledPerRequestMax);
};

/** Clients of 2025-03-26 may send several in one body. The protocol refuses text that is no JSON. */
const messagesOf = (body: string): readonly unknown[] => {
  try {
    const parsed: unknown = JSON.parse(body);
    return Array.isArray(parsed) ? parsed : [parsed];
  } catch {
    return [];
  }
};
