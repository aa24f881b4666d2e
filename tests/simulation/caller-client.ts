/** A client that offers a tool of its own to an agent session. */
import { closeConnection } from '#shared/application/connection/close-connection.ts';
import { answerCall, declareTools } from '#shared/application/turn/requests/caller-tools.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { callsWithCallers } from '#shared/domain/turn/pending-work.ts';
import type { Platform } from './platform.ts';
import { foundText } from './registry.ts';
import { turnOf } from './stored.ts';
import { connect, found, type Users } from './users.ts';

type Answered = { readonly requestId: string; readonly callId: string; readonly times: number };

/** A client that offers a tool, answers most calls of it, some twice, some late, and leaves at times. */
export const offerTools = async (users: Users, id: SessionId): Promise<void> => {
  const { platform, until } = users;
  const { sim } = platform;
  const { random } = sim;
  const connectionId = await connect(users, id, {});
  const tools = [{ name: 'open', description: '', inputSchema: { type: 'object' } }];
  await platform.request('declares tools', async (ports) => {
    const { session } = await found(ports, id);
    await declareTools(ports, session, { callerId: 'ide', tools, connectionId });
  });
  const answered = new Map<string, Answered>();
  const leavesAt = random.chance(0.3) ? sim.now() + random.spread(1000, 120_000) : Number.POSITIVE_INFINITY;
  while (platform.table.get(`SESSION#${id}`, 'META') !== undefined && sim.now() < until + answerMsMax) {
    await sim.pause(random.spread(100, 20_000));
    if (sim.now() > leavesAt) {
      platform.clients.delete(connectionId);
      await platform.request('disconnect', (ports) =>
        closeConnection(ports, { connectionId, sessionId: id }, platform.settings.limits),
      );
      return;
    }
    for (const request of answersOf(platform, id, answered)) {
      answered.set(request.requestId, request);
      void answer(users, id, request);
    }
  }
};

/** Of most calls that wait; and, at times, once more of one that may be over while others wait. */
const answersOf = (
  platform: Platform,
  id: SessionId,
  answered: ReadonlyMap<string, Answered>,
): readonly Answered[] => {
  const { random, further } = platform.sim;
  const first = requestsOf(platform, id)
    .map((request) => ({ ...request, times: (answered.get(request.requestId)?.times ?? 0) + 1 }))
    .filter(({ times }) => times <= answersMax && !random.chance(0.2));
  const again = [...answered.values()]
    .filter(({ times }) => times < answersMax && further.chance(0.1))
    .map((request) => ({ ...request, times: request.times + 1 }));
  return [...first, ...again];
};

const answer = ({ platform }: Users, id: SessionId, { requestId, callId }: Answered): Promise<unknown> =>
  platform.request('answers a call', async (ports) => {
    const { limits } = platform.settings;
    await answerCall(ports, await found(ports, id), { requestId, result: foundText(callId), limits });
  });

const answersMax = 3;
const answerMsMax = 10 * 60_000;

const requestsOf = ({ table }: Platform, id: SessionId) =>
  callsWithCallers(turnOf(table, id)).map(({ wait, args }) => ({
    requestId: wait.id,
    callId: String(args['id']),
  }));
