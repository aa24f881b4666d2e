/**
 * `sessions events`: prints the log of a session, and with `--follow` also what happens from then on, each event once.
 *
 * Following resumes after a lost connection. Events that the server no longer keeps are skipped, with a note.
 */

import type { LoggedFrame } from '#sdk/event-order.ts';
import type { AnswerOf } from '#sdk/route.ts';
import { api } from '#sdk/routes.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import { connectToSession } from '#sdk/session-connection.ts';
import { patience, stateListener } from '../runtime/client.ts';
import { type Call, type Command, flag, idOf, oneSessionId, value, wholeNumber } from '../runtime/command.ts';
import { stripControls, toJson } from '../runtime/control-characters.ts';
import { exitCodes, wrongUsage } from '../runtime/failure.ts';

const run = async (call: Call): Promise<number> => {
  const isTree = call.isSet('children');
  const id = idOf(call);
  const since = wholeNumber(call.text('since'), 'since') ?? -1;
  if (call.isSet('follow') && isTree)
    throw wrongUsage('--follow follows one session: leave out --children', [
      '`sallyport sessions tree` lists the sessions below it.',
    ]);
  const client = await call.client();
  if (call.isSet('follow')) return follow(call, client, { id, since });
  const events = await readEvents(client, { id, since, isTree });
  call.output.result({ sessionId: id, events }, () => events.map(lineOf));
  return 0;
};

const lineOf = ({ index, at, type, data }: Pick<LogEvent, 'index' | 'at' | 'type' | 'data'>): string =>
  stripControls(`${String(index).padStart(4)}  ${at}  ${type.padEnd(22)}  ${JSON.stringify(data)}`);

/** Until Ctrl-C, or until the deployment can no longer be reached. */
const follow = async (
  { host, output }: Call,
  client: Sallyport,
  { id, since }: { readonly id: string; readonly since: number },
): Promise<number> => {
  // A refused handshake gives no reason, but the same request by REST does.
  await client.request(api.showSession, { params: { id } });
  const { promise: left, resolve: leave, reject: fail } = Promise.withResolvers<number>();
  const print = ({ seq, ...event }: LoggedFrame): void => {
    const logged = { index: seq, ...event } as unknown as LogEvent;
    if (output.isJson) output.text(`${toJson(logged)}\n`);
    else output.line(lineOf(logged));
  };
  const connection = connectToSession(client, {
    sessionId: id,
    since,
    isWhole: true,
    onFrame: (frame) => {
      if (frame.seq !== null) print(frame as LoggedFrame);
    },
    onEventsLost: (oldest) => output.note(`Events before ${oldest} are no longer kept.`),
    onState: stateListener({
      onLost: () => output.note('Connection lost, reconnecting…'),
      onEnd: fail,
    }),
    ...patience,
  });
  const stopListening = host.onInterrupt(() => leave(exitCodes.interrupted));
  try {
    return await left;
  } finally {
    stopListening();
    connection.close();
  }
};

type LogEvent = AnswerOf<typeof api.readEvents>['events'][number];

/** The log keeps 1000 events, which are fewer pages. */
const pagesMax = 50;

const readEvents = async (
  client: Sallyport,
  { id, since, isTree }: { readonly id: string; readonly since: number; readonly isTree: boolean },
): Promise<readonly LogEvent[]> => {
  const found: LogEvent[] = [];
  const leftOut = new Map<string, number>();
  let last = since;
  for (let page = 0; page < pagesMax; page += 1) {
    const children = isTree ? { include_children: 'true' as const } : {};
    const query = { since_index: last, ...children };
    const answer = await client.request(api.readEvents, { params: { id }, query });
    found.push(...answer.events);
    last = answer.lastIndex;
    for (const one of answer.leftOut ?? [])
      leftOut.set(one.sessionId, Math.min(one.sinceIndex, leftOut.get(one.sessionId) ?? one.sinceIndex));
    if (!answer.hasMore || answer.events.length === 0) break;
  }
  for (const [child, from] of leftOut)
    found.push(...(await readEvents(client, { id: child, since: from, isTree: false })));
  return leftOut.size === 0 ? found : inOrder(found);
};

/** By time, each event once. */
const inOrder = (events: readonly LogEvent[]): readonly LogEvent[] =>
  [...new Map(events.map((event) => [`${event.sessionId}#${event.index}`, event])).values()].sort(
    (one, other) => Date.parse(one.at) - Date.parse(other.at),
  );

const command = {
  usage: '<id> [--since <index>] [--follow | --children]',
  summary: 'Show the events of a session; --follow waits for new ones, --children adds those of its tree',
  details: ['With --follow and --json each event is one line of JSON. Ctrl-C ends it.'],
  options: { since: value, follow: flag, children: flag },
  positionals: oneSessionId,
  run,
};

export const eventCommands: readonly Command[] = [
  { name: 'sessions events', ...command },
  { name: 'events', ...command },
];
