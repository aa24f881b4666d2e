/** `network`: the hosts that a session may reach, those that get a secret, and those that it reached; `preview`: a way in. */
import { api } from '#sdk/routes.ts';
import { readWholeLog } from '#sdk/whole-log.ts';
import { endpointOf, hostsReached, verdictOf } from '#shared/domain/egress-summary.ts';
import { eventsPerSessionMax } from '#shared/domain/limits.ts';
import {
  byId,
  type Call,
  type Command,
  idOf,
  oneSession,
  sessionAndPath,
  wholeNumber,
} from '../runtime/command.ts';
import { networkFacts } from '../runtime/network.ts';
import { factLines, tableLines } from '../runtime/output.ts';

const show = async (call: Call): Promise<undefined> => {
  const { network } = await call.request(api.showSession, byId(call));
  const { events, isCut } = await readWholeLog(await call.client(), { id: idOf(call) });
  const hosts = hostsReached(events);
  if (isCut) call.output.note(cutNote(idOf(call)));
  call.output.result({ network, hosts, eventsAreMissing: isCut }, () => [
    ...factLines(networkFacts(network)),
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

/** A browser cannot send the token; a ticket stands for it, once. */
const preview = async (call: Call): Promise<undefined> => {
  const { sandboxes } = await call.client();
  const port = wholeNumber(call.positionals[1], '<port>') ?? 0;
  const sandbox = await sandboxes.get(idOf(call));
  const { ticket, expiresInSeconds } = await call.request(api.makeTicket);
  const url = `${sandbox.url(port)}?ticket=${ticket}`;
  call.output.result({ url, expiresInSeconds }, () => [url]);
  if (!call.output.isJson)
    call.output.note(`Open it in a browser within ${expiresInSeconds} s; it opens once.`);
};

export const networkCommands: readonly Command[] = [
  {
    name: 'network',
    usage: '<session>',
    summary: 'Show the hosts that a session may reach, and those that it reached',
    positionals: oneSession,
    run: show,
  },
  {
    name: 'preview',
    usage: '<session> <port>',
    summary: 'Print an address that shows a web server of a sandbox in a browser',
    details: [
      'The address contains a ticket: it needs no token, and opens once. A program sends its token instead.',
    ],
    positionals: sessionAndPath,
    run: preview,
  },
];
