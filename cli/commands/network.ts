/** `network`: the hosts that a session may reach, those that get a secret, and those that it reached. */
import { api } from '#sdk/routes.ts';
import { readWholeLog } from '#sdk/whole-log.ts';
import { endpointOf, hostsReached, verdictOf } from '#shared/domain/egress-summary.ts';
import { eventsPerSessionMax } from '#shared/domain/limits.ts';
import { byId, type Call, type Command, idOf, oneSession } from '../runtime/command.ts';
import { factLines, tableLines } from '../runtime/output.ts';

const show = async (call: Call): Promise<undefined> => {
  const { network } = await call.request(api.showSession, byId(call));
  const { events, isCut } = await readWholeLog(await call.client(), { id: idOf(call) });
  const hosts = hostsReached(events);
  const { allow = [], inject = [] } = network === 'none' ? {} : network;
  if (isCut) call.output.note(cutNote(idOf(call)));
  call.output.result({ network, hosts, eventsAreMissing: isCut }, () => [
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
      'No connections yet.',
    ),
  ]);
};

const cutNote = (id: string): string =>
  [
    `Earlier connections are not counted: a session keeps its newest ${eventsPerSessionMax.toLocaleString('en')} events.`,
    `Record them as they come with \`sallyport events ${id} --follow --json\`.`,
  ].join(' ');

export const networkCommands: readonly Command[] = [
  {
    name: 'network',
    usage: '<session>',
    summary: 'Show the hosts that a session may reach, and those that it reached',
    positionals: oneSession,
    run: show,
  },
];
