/** `client`: lists the clients that were connected to /mcp with this token, and disconnects them; their tokens end at once. */
import { connectedClientApi } from '#sdk/connected-client-routes.ts';
import { type Call, type Command, flag, listing, none, oneId } from '../runtime/command.ts';
import { wrongUsage } from '../runtime/failure.ts';
import { tableLines } from '../runtime/output.ts';

const list = async (call: Call): Promise<undefined> => {
  const { clients } = await call.request(connectedClientApi.listClients);
  call.output.result({ clients }, () =>
    tableLines(
      ['ID', 'NAME', 'HOST', 'SCOPE', 'LAST USED', 'EXPIRES'],
      clients.map((one) => [one.id, one.name, one.host, one.scope, one.refreshedAt, one.expiresAt]),
      'No connected clients.',
    ),
  );
};

const disconnect = async (call: Call): Promise<undefined> => {
  const [id] = call.positionals;
  if ((id === undefined) !== call.isSet('all')) throw wrongUsage('give the id of a client, or --all');
  if (id === undefined) await call.request(connectedClientApi.disconnectAll);
  else await call.request(connectedClientApi.disconnect, { params: { id } });
  call.output.result({ id: id ?? 'all', disconnected: true }, () => [
    id === undefined ? 'Disconnected all clients.' : `Disconnected ${id}.`,
  ]);
};

export const clientCommands: readonly Command[] = [
  ...listing('client', {
    usage: '',
    summary: 'List the MCP clients that you connected',
    positionals: none,
    run: list,
  }),
  {
    name: 'client disconnect',
    usage: '<id> | --all',
    summary: 'Disconnect an MCP client: its tokens end at once',
    options: { all: flag },
    positionals: { ...oneId, min: 0 },
    run: disconnect,
  },
];
