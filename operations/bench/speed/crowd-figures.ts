/**
 * Many first turns at once, compared with one alone, and the replay of a long log to a new socket, compared with a read of as
 * many items.
 */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { openCountedTable } from '../counted-table.ts';
import { beside, timed } from './beside.ts';
import type { Figure } from './figures.ts';
import { type Ask, askOf, inTurn, makeSession, type Platform } from './platform.ts';
import { openSocket } from './socket.ts';

const crowd = 32;
const replayed = 1000;
/** So many messages may wait for one turn. */
const messagesPerTurn = 90;

export const crowdFigure = async (platform: Platform, tries: number): Promise<Figure> => {
  const ask = askOf(platform);
  return await beside({
    ...{ name: `${crowd} first turns at once`, unit: 'ms', tries },
    measure: () => firstTurns(platform, ask, crowd),
    floor: { name: 'one first turn', measure: () => firstTurns(platform, ask, 1) },
    target: { of: 'ratio', is: 'at most', bound: 8 },
  });
};

/** A turn that runs one command, in sessions that have no sandbox yet; they are ended unmeasured. */
const firstTurns = async (platform: Platform, ask: Ask, count: number): Promise<number> => {
  const ids = await inTurn(count, () =>
    makeSession(ask, { provider: 'demo', approvals: 'auto', flavor: 'micro' }),
  );
  const sockets = await Promise.all(ids.map((sessionId) => openSocket(platform, { sessionId })));
  const ms = await timed(() =>
    Promise.all(
      sockets.map((socket) => {
        const ended = socket.follow(({ type }) => type === 'completion');
        socket.say('$ true');
        return ended;
      }),
    ),
  );
  await Promise.all(sockets.map((socket) => socket.close()));
  for (const id of ids) await ask(`/api/sessions/${id}`, { method: 'DELETE' });
  return ms;
};

export const replayFigure = async (platform: Platform, tries: number): Promise<Figure> => {
  const ask = askOf(platform);
  const sessionId = await makeSession(ask, { provider: 'demo', approvals: 'auto' });
  await fillLog(platform, ask, sessionId);
  const { table, fill, close } = await openCountedTable();
  try {
    await fill(Array.from({ length: replayed }, (_, seq) => itemOf(seq)));
    return await beside({
      ...{ name: `replay of ${replayed} events`, unit: 'ms', tries },
      measure: () => timed(() => replay(platform, sessionId)),
      floor: { name: 'a query for as many items', measure: () => timed(() => readAll(table)) },
    });
  } finally {
    await close();
  }
};

const itemOf = (seq: number) => ({
  pk: 'LOG',
  sk: `EVENT#${String(seq).padStart(8, '0')}`,
  event: { seq, at: seq, type: 'message', data: { messageId: `m-${seq}`, role: 'user', text: 'a message' } },
});

const readAll = async ({ client, name }: { client: Client; name: string }): Promise<void> => {
  const values = { ':pk': 'LOG' };
  const query = { TableName: name, KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: values };
  const { Items = [] } = await client.send(new QueryCommand(query));
  if (Items.length < replayed) throw new Error(`a query gave ${Items.length} items`);
};

type Client = Awaited<ReturnType<typeof openCountedTable>>['table']['client'];

/** Each portion of messages has been taken, and its turn has ended, before the next is said. */
const fillLog = async (platform: Platform, ask: Ask, sessionId: string): Promise<void> => {
  let last = 0;
  let said = 0;
  let taken = 0;
  const socket = await openSocket(platform, { sessionId }, ({ type, seq, data }) => {
    last = Math.max(last, seq ?? 0);
    if (type === 'message' && data['role'] === 'user') taken += 1;
  });
  while (last <= replayed) {
    const wanted = said + messagesPerTurn;
    const ended = socket.follow(({ type }) => type === 'completion' && taken === wanted);
    for (; said < wanted; said += 1) await sayTo(ask, sessionId, { text: 'hello', messageId: `m-${said}` });
    await ended;
  }
  await socket.close();
};

const sayTo = async (ask: Ask, sessionId: string, body: object): Promise<void> => {
  const init = { method: 'POST', body: JSON.stringify(body) };
  await (await ask(`/api/sessions/${sessionId}/messages`, init)).arrayBuffer();
};

/** From the first byte of the handshake to the last event of the log. */
const replay = async (platform: Platform, sessionId: string): Promise<void> => {
  let events = 0;
  const arrived = Promise.withResolvers<void>();
  const socket = await openSocket(platform, { sessionId, since: '-1' }, ({ seq }) => {
    if (seq === null) return;
    events += 1;
    if (events === replayed) arrived.resolve();
  });
  await arrived.promise;
  await socket.close();
};
