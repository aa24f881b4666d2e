/** `network`: the hosts that a session may reach, those that get a secret, and those that it reached. */
import type { AnswerOf } from '#sdk/route.ts';
import { api } from '#sdk/routes.ts';
import { endpointOf, hostsReached, verdictOf } from '#shared/domain/egress-summary.ts';
import { byId, type Call, type Command, one } from '../runtime/command.ts';
import { factLines, tableLines } from '../runtime/output.ts';

const eventsMax = 1000;
type LogPage = AnswerOf<typeof api.readEvents>;

/** Long events come in several pages. */
const readLog = async (call: Call): Promise<LogPage['events']> => {
  const events: LogPage['events'] = [];
  let page: LogPage | undefined;
  do {
    page = await call.request(api.readEvents, {
      ...byId(call),
      query: { since_index: page?.lastIndex ?? -1, max_events: eventsMax },
    });
    events.push(...page.events);
  } while (page.hasMore && page.events.length > 0);
  return events;
};

const show = async (call: Call): Promise<undefined> => {
  const { network } = await call.request(api.showSession, byId(call));
  const hosts = hostsReached(await readLog(call));
  const { allow = [], inject = [] } = network === 'none' ? {} : network;
  call.output.result({ network, hosts }, () => [
    ...factLines([
      ['hosts', allow.length === 0 ? 'none' : allow.join(', ')],
      ...inject.map(({ host, header, secret }) => ['secret', `${secret} in ${header} of ${host}`] as const),
    ]),
    ...tableLines(
      ['HOST', 'VERDICT', 'CONNECTIONS', 'BYTES IN', 'BYTES OUT', 'LAST'],
      hosts.map((host) => [
        ...[endpointOf(host), verdictOf(host), String(host.connections)],
        ...[String(host.bytesIn), String(host.bytesOut), host.at],
      ]),
      'No connection is in the log.',
    ),
  ]);
};

export const networkCommands: readonly Command[] = [
  {
    name: 'network',
    usage: '<session>',
    summary: 'Show the hosts that a session may reach, and those that it reached',
    positionals: one,
    run: show,
  },
];
