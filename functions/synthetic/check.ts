/**
 * One check: creates a session of the demo provider, sends it a message, reads until it has answered, and ends it with its
 * sandbox, all of it as a client would. If a check dies, the next one ends what it left.
 */

import * as z from 'zod';
import type { ApiClient } from '#sdk/api-client.ts';
import type { FrameOf } from '#sdk/frames.ts';
import { api } from '#sdk/routes.ts';
import { agentFlavor } from '#shared/domain/flavor.ts';
import type { MetricName } from '#shared/domain/metrics.ts';
import { syntheticProject } from '#shared/domain/synthetic-project.ts';
import type { World } from '#shared/ports/world.ts';

export const syntheticTask = z.object({
  check: z.enum(['turn', 'sandbox']),
  url: z.url({ protocol: /^https?$/ }),
});

type Kind = {
  readonly text: string;
  /** The text that an answer must contain. */
  readonly expects: string;
  readonly metric: MetricName;
  readonly waitMsMax: number;
  readonly pollMs: number;
};

const marker = 'synthetic check, alive';
/** Where the kernel counts the memory of a container, by the version of cgroups. */
const counters = { v2: 'memory.events', v1: 'memory/memory.oom_control' };
const seen = 'counted in';
const showCounters = `for file in ${Object.values(counters).join(' ')}; do test -r /sys/fs/cgroup/$file && echo "${seen} $file"; done; true`;

/** The function has five minutes; both fit into them with what comes before and after. */
export const kinds: Readonly<Record<z.output<typeof syntheticTask>['check'], Kind>> = {
  turn: {
    text: marker,
    expects: '',
    metric: 'SyntheticTurnMs',
    waitMsMax: 60_000,
    pollMs: 700,
  },
  sandbox: {
    text: `$ echo "${marker}"; ${showCounters}`,
    expects: marker,
    metric: 'SyntheticSandboxMs',
    waitMsMax: 210_000,
    pollMs: 5000,
  },
};

/** Longer than any check takes. */
const leftAfterMs = 10 * 60_000;
const leftMax = 20;

type CheckPorts = { readonly client: ApiClient; readonly world: World };

export type Checked = {
  /** From the message to its whole answer, by the time in the log: how often it is looked at is paid for, and tells nothing. */
  readonly durationMs: number;
  readonly text: string;
};

export const runCheck = async (ports: CheckPorts, kind: Kind): Promise<Checked> => {
  const { client, world } = ports;
  await endLeft(ports);
  const { id } = await client.request(api.makeSession, {
    body: { project: syntheticProject, provider: 'demo', approvals: 'auto', flavor: agentFlavor },
  });
  try {
    const from = world.now();
    await client.request(api.sendMessage, { params: { id }, body: { text: kind.text } });
    const { at, text } = await answerOf(ports, id, kind);
    return { durationMs: at - from, text };
  } finally {
    await end(client, id);
  }
};

const end = (client: ApiClient, id: string) => client.request(api.endSession, { params: { id } });

const endLeft = async ({ client, world }: CheckPorts): Promise<void> => {
  const { sessions } = await client.request(api.listSessions, {
    query: { project: syntheticProject, status: 'active' },
  });
  const before = world.now() - leftAfterMs;
  const left = sessions.filter(({ createdAt }) => Date.parse(createdAt) < before).slice(0, leftMax);
  for (const { id } of left) await end(client, id);
};

type Answer = { readonly at: number; readonly text: string };

const answerOf = async ({ client, world }: CheckPorts, id: string, kind: Kind): Promise<Answer> => {
  const until = world.now() + kind.waitMsMax;
  let since = -1;
  while (world.now() < until) {
    await world.sleep(kind.pollMs);
    const { events, lastIndex } = await client.request(api.readEvents, {
      params: { id },
      query: { since_index: since },
    });
    const end = events.find(({ type }) => type === 'completion');
    if (end !== undefined) {
      const completion = end.data as Completion;
      refuseBadAnswer(completion, kind);
      return { at: Date.parse(end.at), text: completion.text };
    }
    since = lastIndex;
  }
  throw new Error(`no answer within ${kind.waitMsMax / 1000} s`);
};

type Completion = FrameOf<'completion'>['data'];

const refuseBadAnswer = ({ stopReason, text }: Completion, { expects }: Kind): void => {
  if (stopReason !== 'end_turn') throw new Error(`the turn ended with ${stopReason}`);
  if (text === '' || !text.includes(expects)) throw new Error('the answer is not the expected one');
};

/** The version of the cgroups that hold a sandbox, by the answer of its check; `unseen`: there the sandbox counts memory itself. */
export const cgroupsIn = (text: string): 'v1' | 'v2' | 'unseen' => {
  if (text.includes(`${seen} ${counters.v2}`)) return 'v2';
  return text.includes(`${seen} ${counters.v1}`) ? 'v1' : 'unseen';
};
