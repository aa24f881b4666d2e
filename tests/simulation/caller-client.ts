/** A client that offers a tool of its own to an agent session. */
import { closeConnection } from '#shared/application/connection/close-connection.ts';
import { answerCall, declareTools } from '#shared/application/turn/requests/caller-tools.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { callsWithCallers } from '#shared/domain/turn/pending-work.ts';
import type { Platform } from './platform.ts';
import { foundText } from './registry.ts';
import { turnOf } from './stored.ts';
import { connect, found, type Users } from './users.ts';

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
  const answered = new Map<string, number>();
  const leavesAt = random.chance(0.3) ? sim.now() + random.spread(1000, 120_000) : Number.POSITIVE_INFINITY;
  while (platform.table.get(`SESSION#${id}`, 'META') !== undefined && sim.now() < until + answerMsMax) {
    await sim.pause(random.spread(100, 20_000));
    if (sim.now() > leavesAt) {
      platform.clients.delete(connectionId);
      await platform.request('disconnect', (ports) =>
        closeConnection(ports, connectionId, platform.settings.limits),
      );
      return;
    }
    for (const { requestId, callId } of requestsOf(platform, id)) {
      const times = answered.get(requestId) ?? 0;
      if (times > 2 || random.chance(0.2)) continue;
      answered.set(requestId, times + 1);
      void platform.request('answers a call', async (ports) => {
        const result = foundText(callId);
        await answerCall(ports, await found(ports, id), {
          requestId,
          result,
          limits: platform.settings.limits,
        });
      });
    }
  }
};

const answerMsMax = 10 * 60_000;

const requestsOf = ({ table }: Platform, id: SessionId) =>
  callsWithCallers(turnOf(table, id)).map(({ wait, args }) => ({
    requestId: wait.id,
    callId: String(args['id']),
  }));
