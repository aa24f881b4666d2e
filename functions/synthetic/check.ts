/**
 * One check: a session of the demo provider is made, sent a message, read until it has answered, and ended with
 * its sandbox, all of it as a client would. The next check ends the rest of one that died.
 */
import * as z from 'zod';
import type { MetricName } from '#shared/domain/metrics.ts';
import type { World } from '#shared/ports/world.ts';
import type { ApiClient } from './api-client.ts';
import { ownProject } from './own-token.ts';
import type { SyntheticTask } from './task.ts';

type Kind = {
  readonly text: string;
  /** The text that an answer must contain. */
  readonly expects: string;
  readonly metric: MetricName;
  readonly waitMsMax: number;
  readonly pollMs: number;
};

const marker = 'synthetic check, alive';

/** The function has five minutes; both fit into them with what comes before and after. */
export const kinds: Readonly<Record<SyntheticTask['check'], Kind>> = {
  turn: {
    text: marker,
    expects: '',
    metric: 'SyntheticTurnMs',
    waitMsMax: 60_000,
    pollMs: 700,
  },
  sandbox: {
    text: `$ echo "${marker}"`,
    expects: marker,
    metric: 'SyntheticSandboxMs',
    waitMsMax: 210_000,
    pollMs: 5000,
  },
};

/** Older than any check takes: nobody's any more. */
const leftAfterMs = 10 * 60_000;
const leftMax = 20;

const made = z.object({ id: z.uuid() });
const listed = z.object({ sessions: z.array(z.object({ id: z.uuid(), createdAt: z.iso.datetime() })) });
const completion = z.object({ stopReason: z.string(), text: z.string() });
const page = z.object({
  lastIndex: z.number(),
  events: z.array(z.object({ type: z.string(), at: z.iso.datetime(), data: z.unknown() })),
});

type CheckPorts = { readonly client: ApiClient; readonly world: World };

/** Milliseconds from the message to its whole answer, by the time in the log: how often it is looked at is paid for, and tells nothing. */
export const runCheck = async (ports: CheckPorts, kind: Kind): Promise<number> => {
  const { client, world } = ports;
  await endLeft(ports);
  const session = await client.ask(
    {
      method: 'POST',
      path: '/sessions',
      body: { project: ownProject, provider: 'demo', approvals: 'auto', flavor: 'micro' },
    },
    made,
  );
  try {
    const from = world.now();
    await client.ask(
      { method: 'POST', path: `/sessions/${session.id}/messages`, body: { text: kind.text } },
      z.unknown(),
    );
    return (await answeredAt(ports, session.id, kind)) - from;
  } finally {
    await end(client, session.id);
  }
};

const end = (client: ApiClient, id: string) =>
  client.ask({ method: 'DELETE', path: `/sessions/${id}` }, z.unknown());

const endLeft = async ({ client, world }: CheckPorts): Promise<void> => {
  const path = `/sessions?project=${ownProject}&status=active`;
  const { sessions } = await client.ask({ method: 'GET', path }, listed);
  const before = world.now() - leftAfterMs;
  const left = sessions.filter(({ createdAt }) => Date.parse(createdAt) < before).slice(0, leftMax);
  for (const { id } of left) await end(client, id);
};

const answeredAt = async ({ client, world }: CheckPorts, id: string, kind: Kind): Promise<number> => {
  const until = world.now() + kind.waitMsMax;
  let since = -1;
  while (world.now() < until) {
    await world.sleep(kind.pollMs);
    const path = `/sessions/${id}/events?since_index=${since}`;
    const { events, lastIndex } = await client.ask({ method: 'GET', path }, page);
    const end = events.find(({ type }) => type === 'completion');
    if (end !== undefined) {
      refuseBadAnswer(completion.parse(end.data), kind);
      return Date.parse(end.at);
    }
    since = lastIndex;
  }
  throw new Error(`no answer within ${kind.waitMsMax / 1000} s`);
};

const refuseBadAnswer = ({ stopReason, text }: z.output<typeof completion>, { expects }: Kind): void => {
  if (stopReason !== 'end_turn') throw new Error(`the turn ended with ${stopReason}`);
  if (text === '' || !text.includes(expects)) throw new Error('the answer is not the one that was asked for');
};
